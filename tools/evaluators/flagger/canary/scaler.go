// Package canary has the interfaces of Flagger's package of the same name that its scheduler calls.
package canary

// A ScalerReconciler scales a canary. The scheduler hands it on.
type ScalerReconciler any
