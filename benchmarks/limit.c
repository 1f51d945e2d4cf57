/* The yardstick of the bench: BWA's sweep as a plain C loop over the same arrays, in the same double arithmetic.
 *
 * It has rows of 8 lanes, one number of classes, no slices, no converged classes and no votes for several classes.
 * benchmarks/limit.py compiles it where there is a compiler, and calls it. */

#include <stdint.h>

enum { LANES = 8, CLASSES = 5 };
/* Half of the lanes: as many as there are in a register of most processors. */
typedef double half __attribute__((vector_size(4 * LANES), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(4 * LANES), aligned(8), may_alias));

#define EACH_HALF for (int h = 0; h < 2; h++)

static inline const half *row(const double *table, int64_t number)
{
    return (const half *)(table + LANES * number);
}

static inline half larger(half left, half right)
{
    bits first = left > right;
    return (half)(((bits)left & first) | ((bits)right & ~first));
}

/* Scores the items and adds up the squared errors of the workers. weight and errors are (workers, LANES), scores (items,
 * CLASSES) with LANES more numbers behind, vote (CLASSES, LANES): 1 in the lane of the class. mean, sums and change are
 * (LANES): the prior mean, and what is found, the sums of the scores and their largest relative changes. */
void sweep(int64_t items, const int64_t *starts, const int32_t *workers, const uint8_t *labels, const double *weight,
           const double *mean, double prior, double floor, const double *vote, double *scores, double *errors,
           double *sums, double *change)
{
    half sum[2] = {{0}, {0}}, largest[2] = {{0}, {0}}, start[2];
    EACH_HALF start[h] = prior * row(mean, 0)[h];
    for (int64_t i = 0; i < items; i++) {
        half favour[2] = {start[0], start[1]}, total[2] = {prior - (half){0}, prior - (half){0}}, score[2];
        const half *old = (const half *)(scores + CLASSES * i);
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            const half *given = row(weight, workers[e]), *said = row(vote, labels[e]);
            EACH_HALF favour[h] += given[h] * said[h];
            EACH_HALF total[h] += given[h];
        }
        EACH_HALF {
            score[h] = favour[h] / total[h];
            half moved = larger(score[h] - old[h], old[h] - score[h]);
            largest[h] = larger(largest[h], moved / (score[h] + floor));
            sum[h] += score[h];
        }
        for (int k = 0; k < CLASSES; k++)
            scores[CLASSES * i + k] = score[k / 4][k % 4];
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            half *error = (half *)row(errors, workers[e]);
            const half *said = row(vote, labels[e]);
            EACH_HALF error[h] += (score[h] - said[h]) * (score[h] - said[h]);
        }
    }
    EACH_HALF ((half *)sums)[h] = sum[h];
    EACH_HALF ((half *)change)[h] = largest[h];
}

/* Reads numbers and adds them up, as quickly as memory gives them. */
double read_all(int64_t count, const double *numbers)
{
    half sum[2] = {{0}, {0}};
    for (int64_t n = 0; n < count / LANES; n++)
        EACH_HALF sum[h] += row(numbers, n)[h];
    return sum[0][0] + sum[1][0];
}
