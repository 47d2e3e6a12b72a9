package intent

import "strings"

// A class is a kind of slice that has a number of 3GPP (TS 23.501, table 5.15.2.2-1). It has defaults for values that an intent leaves out.
type class struct {
	name      string
	sst       int32
	latencyMs string
}

func sliceClasses() []class {
	return []class{
		{name: "eMBB", sst: 1, latencyMs: "50"},
		{name: "URLLC", sst: 2, latencyMs: "10"},
		{name: "mMTC", sst: 3, latencyMs: "100"},
	}
}

// genericClass is the class of a service outside of slices.
const genericClass = "generic"

func (c class) serviceType() string { return strings.ToLower(c.name) }

// classOf returns the class of a service type, if the type is one of a slice.
func classOf(serviceType string) (class, bool) {
	for _, c := range sliceClasses() {
		if c.serviceType() == serviceType {
			return c, true
		}
	}
	return class{}, false
}

// serviceTypeOf returns the service type of a class, whose name is spelt as in the standards.
func serviceTypeOf(name string) (string, bool) {
	if name == genericClass {
		return DefaultType, true
	}
	for _, c := range sliceClasses() {
		if c.name == name {
			return c.serviceType(), true
		}
	}
	return "", false
}

// withClass returns the intent with the defaults of its class.
func (i Intent) withClass() Intent {
	c, ok := classOf(i.Type)
	if ok && i.Slice.SST == nil {
		i.Slice.SST = &c.sst
	}
	if ok && i.QoS.LatencyMs == "" {
		i.QoS.LatencyMs = c.latencyMs
	}
	return i
}

// withoutClass returns the intent without the values that equal the defaults of its class.
func (i Intent) withoutClass() Intent {
	c, ok := classOf(i.Type)
	if ok && i.Slice.SST != nil && *i.Slice.SST == c.sst {
		i.Slice.SST = nil
	}
	if ok && i.QoS.LatencyMs == c.latencyMs {
		i.QoS.LatencyMs = ""
	}
	return i
}
