/* The subcommands of cuzk. Each gets its own name as argv[0] and returns an exit code
   (common/exit_codes.h). */
#ifndef CUZK_PROGRAM_COMMANDS_H
#define CUZK_PROGRAM_COMMANDS_H

int command_serve(int argc, char **argv);
int command_prove(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_params(int argc, char **argv);
int command_waterfall(int argc, char **argv);
int command_config(int argc, char **argv);
int command_version(int argc, char **argv);

#endif
