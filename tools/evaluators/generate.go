// Package evaluators compares the verdicts of checks with the verdicts of their source metrics of Argo Rollouts and Flagger.
package evaluators

//go:generate go run ./extract
