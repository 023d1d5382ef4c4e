// gRPC's JavaScript client against the daemon: node client.mjs ADDRESS C1. Prints one JSON line.
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import fs from "node:fs";

const [address, c1] = process.argv.slice(2);
const proto = new URL("../../proto/cuzk/v1/proving.proto", import.meta.url).pathname;
const definition = loader.loadSync(proto, { longs: Number });
const { cuzk } = grpc.loadPackageDefinition(definition);
const client = new cuzk.v1.ProvingEngine(address, grpc.credentials.createInsecure(), {
  "grpc.max_send_message_length": 1 << 28,
  "grpc.max_receive_message_length": 1 << 28,
});

const call = (method, request, seconds = 300) =>
  new Promise((resolve) => {
    const deadline = Date.now() + seconds * 1000;
    client[method](request, { deadline }, (error, response) =>
      resolve(error ? { code: error.code, details: error.details } : response));
  });

const submit = {
  requestId: "js", proofKind: 1, sectorSize: 2048, priority: 2,
  vanillaProof: fs.readFileSync(c1), sectorNumber: 42, minerId: 1000,
};
const empty = await call("Prove", {});
const short = await call("Prove", { submit: { ...submit, requestId: "js-short" } }, 0.5);
const big = await call("SubmitProof", { ...submit, vanillaProof: Buffer.alloc(60 << 20, 32) });
const results = await Promise.all([1, 2].map(() => call("Prove", { submit })));
const status = await call("GetStatus", {});
console.log(JSON.stringify({
  empty, short, big,
  proofs: results.map((r) => r.result?.proof?.toString("hex") ?? JSON.stringify(r)),
  completed: status.totalProofsCompleted,
}));
client.close();
