package telecom

import "strings"

// A Class is a kind of slice that has a number of 3GPP (TS 23.501, table 5.15.2.2-1). It has defaults for values that an intent leaves out.
type Class struct {
	name string

	// SST is the slice or service type.
	SST int32

	// LatencyMs is the longest latency.
	LatencyMs string
}

func sliceClasses() []Class {
	return []Class{
		{name: "eMBB", SST: 1, LatencyMs: "50"},
		{name: "URLLC", SST: 2, LatencyMs: "10"},
		{name: "mMTC", SST: 3, LatencyMs: "100"},
	}
}

// GenericType is the type of a service outside of slices, whose class is genericClass.
const GenericType = "web"

const genericClass = "generic"

func (c Class) serviceType() string { return strings.ToLower(c.name) }

// ClassOf returns the class of a service type, if the type is one of a slice.
func ClassOf(serviceType string) (Class, bool) {
	for _, c := range sliceClasses() {
		if c.serviceType() == serviceType {
			return c, true
		}
	}
	return Class{}, false
}

// ServiceTypeOf returns the service type of a class, whose name is spelt as in the standards.
func ServiceTypeOf(name string) (string, bool) {
	if name == genericClass {
		return GenericType, true
	}
	for _, c := range sliceClasses() {
		if c.name == name {
			return c.serviceType(), true
		}
	}
	return "", false
}
