package timing

import "math"

const (
	// maxLag bounds the lags at which a correlation is looked for.
	maxLag = 1000
	// quietLags is the number of lags in a row without correlation that end it
	// (Politis and White, Automatic Block-Length Selection, 2004, section 3).
	quietLags = 5
	// minBootstrapBlocks keeps enough blocks to draw from, whatever the
	// correlation.
	minBootstrapBlocks = 50
)

// A dependence says how far the values of a series depend on those before.
type dependence struct {
	length    int     // of a bootstrap block
	effective float64 // number of independent values that are worth as much
}

// dependenceOf reads the dependence of x off its autocorrelation. Values beyond
// three sigma are pulled in before, since one interrupt would hide everything.
func dependenceOf(x []float64) dependence {
	n := len(x)
	z := winsorised(x)
	variance := product(z, 0)
	if variance == 0 {
		return dependence{1, float64(n)}
	}
	threshold := 2 * math.Sqrt(math.Log10(float64(n))/float64(n))
	last, sum := 0, 0.0
	inflation := 1.0
	for lag := 1; lag <= min(maxLag, n/4) && lag-last <= quietLags; lag++ {
		rho := product(z, lag) / variance
		sum += rho
		if math.Abs(rho) > threshold {
			last, inflation = lag, 1+2*sum
		}
	}
	length := max(1, min(2*last, n/minBootstrapBlocks))
	return dependence{length, float64(n) / max(inflation, 1)}
}

// product returns the mean product of values that lie lag apart.
func product(z []float64, lag int) float64 {
	sum := 0.0
	for i := lag; i < len(z); i++ {
		sum += z[i] * z[i-lag]
	}
	return sum / float64(len(z))
}

// winsorised returns x around its median, with nothing beyond three sigma.
func winsorised(x []float64) []float64 {
	m, reach := median(x), 3*robustSigma(x)
	z := make([]float64, len(x))
	mean := 0.0
	for i, v := range x {
		z[i] = max(-reach, min(reach, v-m))
		mean += z[i] / float64(len(x))
	}
	for i := range z {
		z[i] -= mean
	}
	return z
}
