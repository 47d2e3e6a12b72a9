// Package evaluators compares the verdicts of checks with those of the metrics of Argo Rollouts and Flagger that they are converted from.
package evaluators

//go:generate go run ./extract
