// Package statistics has the statistics of evaluations, audits and tournaments: confidence intervals, tests of
// differences, and sizes of samples. All results are exact functions of their arguments: resampling uses the same seed
// each time.
//
// All intervals have a confidence of 95 %, and all tests a level of 5 %, unless a function says otherwise.
package statistics
