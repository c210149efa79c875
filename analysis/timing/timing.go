// Package timing judges timing samples: whether two classes of input take the
// same time, and what the samples could have shown. It reads files and measures
// nothing.
//
// A sample is the time of a few operations on one input. Samples come in blocks
// that hold both classes once, in an order drawn by lot. All that follows is
// about the differences B - A inside a block, per operation, in nanoseconds:
//
//   - Which class came first is no secret and often matters more than the class,
//     so the trimmed mean of (second - first) is taken off every block. It does not
//     change when the labels of a block are exchanged; therefore, where the
//     classes are alike, the sign of each difference is still a fair coin, and
//     the sign test and the Wilcoxon signed-rank test hold exactly whatever the
//     machine's noise looks like: tails, drift, correlation.
//   - The effect is the 10 % trimmed mean, with the median beside it, each with a
//     95 % interval from a block bootstrap whose block length is taken from the
//     autocorrelation.
//   - A leak that shows in few calls only moves the tails: the nine deciles of
//     A and of B are compared, the largest standardised difference is the test
//     statistic, and the bootstrap gives the distribution of that maximum. Where
//     the clock's step is coarser than the noise this test errs towards no leak.
//   - All p-values of a run are corrected together (Holm), at [Alpha].
//   - The smallest effect that the run could have found is printed with every
//     verdict: 5.70 sigma/sqrt(n), with sigma = 1.4826 MAD of the differences and
//     n the effective number of blocks.
//
// The largest |t| over dudect's 102 tests (Reparaz, Balasch, Verbauwhede, 2017)
// is given for comparison and decides nothing: it is a maximum over correlated
// tests, has no effect size, and takes samples for independent.
//
// What it does not give: a proof that there is no leak. A verdict speaks of the
// pairs of classes that were measured, on the machine that measured them.
package timing

// Alpha is the probability, over all tests of a run together, of taking noise
// for a leak.
const Alpha = 1e-5

// Confidence is the level of every interval.
const Confidence = 0.95

// findableFactor is the quantile of the normal distribution at Alpha, two-sided,
// plus the one at a power of 0.9: 4.417 + 1.282.
const findableFactor = 5.70

// The limits in nanoseconds: differences that count against a design, by who
// measures them.
const (
	LimitLibrary  = 1      // an attacker on the same machine
	LimitLocal    = 100    // one on the local network
	LimitInternet = 50_000 // one on the internet
)
