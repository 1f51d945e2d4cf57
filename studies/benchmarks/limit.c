/* The yardsticks of the bench: the sweeps of BWA and of the adjudicator as plain C loops over the same arrays, in the same
 * double arithmetic.
 *
 * They have one number of classes, no slices and no items with many labels, BWA's no converged classes and no votes for several
 * classes, the adjudicator's no weights.
 * studies/benchmarks/limit.py compiles it where there is a compiler, and calls it. */

#include <stdint.h>

enum { LANES = 8, CLASSES = 5, STRENGTHS = 3, PAIRS = 28, PULLS = STRENGTHS * PAIRS, AHEAD = 6, LINE = 8 };
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

/* Finds the types of items, and counts them for their workers, as methods/adjudicator/few_classes_kernel.py does. chance is (workers, PAIRS), ratio
 * (STRENGTHS, PAIRS), scores (items, CLASSES), exposure (workers, PULLS) and confusion (workers, CLASSES, CLASSES). */
void sweep_pulls(int64_t items, const int64_t *starts, const int32_t *workers, const uint8_t *labels,
                 const double *chance, const double *gain, const double *ratio, double *scores, double *exposure,
                 double *confusion)
{
    for (int64_t i = 0; i < items; i++) {
        double pulls[PULLS], raised[PULLS] = {0}, lifts[STRENGTHS][CLASSES], neutral[CLASSES], found[CLASSES];
        for (int t = 0; t < PULLS; t++) pulls[t] = 1;
        for (int m = 0; m < STRENGTHS; m++)
            for (int k = 0; k < CLASSES; k++) lifts[m][k] = 1;
        for (int k = 0; k < CLASSES; k++) neutral[k] = 1.0 / CLASSES;
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            int64_t ahead = e + AHEAD < starts[items] ? e + AHEAD : e;
            for (int t = 0; t < PAIRS; t += LINE) __builtin_prefetch(chance + PAIRS * (int64_t)workers[ahead] + t);
            const double *row = chance + PAIRS * (int64_t)workers[e];
            for (int k = 0; k < CLASSES; k++) neutral[k] *= row[CLASSES * k + labels[e]];
            for (int m = 0; m < STRENGTHS; m++) {
                lifts[m][labels[e]] *= 1 + gain[m];
                for (int t = 0; t < PAIRS; t++) pulls[PAIRS * m + t] *= 1 + gain[m] * row[t];
            }
        }
        for (int m = 0; m < STRENGTHS; m++)
            for (int k = 0; k < CLASSES; k++)
                for (int a = 0; a < CLASSES; a++) raised[PAIRS * m + CLASSES * k + a] = neutral[k] * lifts[m][a];
        for (int t = 0; t < PULLS; t++) pulls[t] = ratio[t] * raised[t] / pulls[t];
        double total = 0;
        for (int k = 0; k < CLASSES; k++) {
            found[k] = neutral[k];
            for (int m = 0; m < STRENGTHS; m++)
                for (int a = 0; a < CLASSES; a++) found[k] += pulls[PAIRS * m + CLASSES * k + a];
            total += found[k];
        }
        for (int t = 0; t < PULLS; t++) pulls[t] /= total;
        for (int k = 0; k < CLASSES; k++) scores[CLASSES * i + k] = found[k] /= total;
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            int64_t ahead = e + AHEAD < starts[items] ? e + AHEAD : e;
            for (int t = 0; t < PULLS; t += LINE) __builtin_prefetch(exposure + PULLS * (int64_t)workers[ahead] + t);
            __builtin_prefetch(confusion + CLASSES * (CLASSES * (int64_t)workers[ahead] + labels[ahead]));
            double *met = exposure + PULLS * (int64_t)workers[e];
            for (int t = 0; t < PULLS; t++) met[t] += pulls[t];
            double *said = confusion + CLASSES * (CLASSES * (int64_t)workers[e] + labels[e]);
            for (int k = 0; k < CLASSES; k++) said[k] += found[k];
        }
    }
}

/* Reads numbers and adds them up, as quickly as memory gives them. */
double read_all(int64_t count, const double *numbers)
{
    half sum[2] = {{0}, {0}};
    for (int64_t n = 0; n < count / LANES; n++)
        EACH_HALF sum[h] += row(numbers, n)[h];
    return sum[0][0] + sum[1][0];
}
