// Package telecom reads intents as TMF921 and 3GPP TS 28.312 write them, and has the slices of a mobile network with their classes. It is pure.
package telecom

import "github.com/intentplane/intentplane/function/intent/objective"

// A Draft has the values of an intent that a telecom document can set. They are not checked yet. A reader keeps the values that its document leaves out.
type Draft struct {
	// Service is the name of the service to run.
	Service string

	// Type of the service.
	Type string

	// Priority of the intent.
	Priority string

	// Sites to run at, or a word for several of them.
	Sites []string

	// Parameters for the Blueprint.
	Parameters map[string]string

	// QoS is the requested quality of service of the network.
	QoS objective.QoS

	// SLOs are the thresholds for the running service, by the name of the metric.
	SLOs map[string]string

	// Slice that the service is in.
	Slice Slice

	// Paths of the fields that set values, by the path of the value in a service intent. A reader adds to it.
	Paths map[string]string
}
