/* Sums of groups of points by rounds of batched additions. Included by msm_impl.h, once for each
   group.

   A summer collects segments: lists of signed points, the sum of which is added to a target. When
   the summer is full it adds the segments up. In each round neighbours in a segment are paired, the
   pairs of all segments make one batch, and each list is half as long afterwards. A segment that
   does not fit continues after the next fill. So a segment of any length, even one with all points,
   costs one addition a point. */

struct item {
    const struct G(affine) * point;
    bool negative;
};

struct segment {
    struct G(affine) * target;
    uint32_t first;
    uint32_t count;
};

struct summer {
    const struct G(kernel) * kernel;
    struct item *items;
    struct segment *segments;
    struct G(affine) * slots; /* intermediate sums, and points that the owner decoded into them */
    struct G(pair) * pairs;
    void *scratch;
    struct affine_ahead ahead; /* set by the owner: points to prefetch for the next fill */
    uint32_t capacity;
    uint32_t n_items, n_segments, n_slots;
};

static void summer_free(struct summer *s)
{
    mem_free(s->items);
    mem_free(s->segments);
    mem_free(s->slots);
    mem_free(s->pairs);
    mem_free(s->scratch);
}

/* False without memory. The caller calls summer_free in any case. */
static bool summer_init(struct summer *s, const struct G(kernel) * kernel, uint32_t capacity)
{
    *s = (struct summer){.kernel = kernel, .capacity = capacity};
    s->items = mem_alloc(capacity, sizeof *s->items);
    s->segments = mem_alloc(capacity, sizeof *s->segments);
    s->slots = mem_alloc(capacity, sizeof *s->slots);
    s->pairs = mem_alloc(capacity / 2, sizeof *s->pairs);
    s->scratch = mem_alloc(1, affine_scratch_bytes(capacity / 2));
    return s->items && s->segments && s->slots && s->pairs && s->scratch;
}

/* Where the sum of a and b is stored: the slot of an operand is free once the sum is known. */
static struct G(affine) * result_slot(struct summer *s, const struct item *a, const struct item *b)
{
    const struct G(affine) *const end = s->slots + s->capacity;
    if (a->point >= s->slots && a->point < end)
        return s->slots + (a->point - s->slots);
    if (b->point >= s->slots && b->point < end)
        return s->slots + (b->point - s->slots);
    return &s->slots[s->n_slots++];
}

/* Pairs up neighbours; returns the number of pairs. */
static size_t plan_round(struct summer *s)
{
    size_t n_pairs = 0;
    uint32_t written = 0;
    for (uint32_t i = 0; i < s->n_segments; i++) {
        struct segment *segment = &s->segments[i];
        const struct item *from = s->items + segment->first;
        const uint32_t count = segment->count;
        segment->first = written;
        segment->count = (count + 1) / 2;
        for (uint32_t j = 0; j + 1 < count; j += 2) {
            const struct item a = from[j];
            const struct item b = from[j + 1];
            struct G(affine) *out = result_slot(s, &a, &b);
            /* a's sign is put before the bracket: ±(a ± b). */
            s->pairs[n_pairs++] = (struct G(pair)){a.point, b.point, out, a.negative != b.negative};
            s->items[written++] = (struct item){out, a.negative};
        }
        if (count % 2 == 1)
            s->items[written++] = from[count - 1];
    }
    s->n_items = written;
    return n_pairs;
}

/* Adds everything up and empties the summer. */
static void summer_flush(struct summer *s)
{
    for (;;) {
        const size_t n_pairs = plan_round(s);
        if (n_pairs == 0)
            break;
        s->kernel->add_pairs(s->pairs, n_pairs, s->scratch, &s->ahead);
    }
    for (uint32_t i = 0; i < s->n_segments; i++) {
        const struct segment *segment = &s->segments[i];
        if (segment->count == 0)
            continue;
        const struct item *item = &s->items[segment->first];
        if (segment->target != item->point)
            *segment->target = *item->point;
        FIELD_OP(cneg)(&segment->target->p.y, &segment->target->p.y, item->negative);
    }
    s->n_items = 0;
    s->n_segments = 0;
    s->n_slots = 0;
}

static void push_item(struct summer *s, const struct G(affine) * point, bool negative)
{
    s->items[s->n_items++] = (struct item){point, negative};
    s->segments[s->n_segments - 1].count++;
}

static void open_segment(struct summer *s, struct G(affine) * target)
{
    s->segments[s->n_segments++] = (struct segment){target, s->n_items, 0};
    if (!G(affine_is_infinity)(target))
        push_item(s, target, false);
}

/* Starts a segment: points added from now on belong to *target, until the next segment starts. */
static void summer_begin(struct summer *s, struct G(affine) * target)
{
    if (s->n_items + 2 > s->capacity || s->n_segments == s->capacity)
        summer_flush(s);
    open_segment(s, target);
}

/* Adds ±*point to the segment. The point must remain unchanged until the flush. */
static void summer_add(struct summer *s, const struct G(affine) * point, bool negative)
{
    if (s->n_items == s->capacity) {
        struct G(affine) *target = s->segments[s->n_segments - 1].target;
        summer_flush(s);
        open_segment(s, target);
    }
    push_item(s, point, negative);
}
