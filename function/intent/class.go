package intent

import "strings"

// A class is a kind of slice that 3GPP gives a number to (TS 23.501, table 5.15.2.2-1). What an intent leaves out, its class says.
type class struct {
	name      string
	sst       int32
	latencyMs string
}

func classes() []class {
	return []class{
		{name: "eMBB", sst: 1, latencyMs: "50"},
		{name: "URLLC", sst: 2, latencyMs: "10"},
		{name: "mMTC", sst: 3, latencyMs: "100"},
	}
}

// generic is the class of a service that is in no slice.
const generic = "generic"

func (c class) serviceType() string { return strings.ToLower(c.name) }

// classOf returns the class that a service type is, if it is one.
func classOf(serviceType string) (class, bool) {
	for _, c := range classes() {
		if c.serviceType() == serviceType {
			return c, true
		}
	}
	return class{}, false
}

// typeOf returns the service type of a class as other standards write it.
func typeOf(name string) (string, bool) {
	if name == generic {
		return DefaultType, true
	}
	for _, c := range classes() {
		if c.name == name {
			return c.serviceType(), true
		}
	}
	return "", false
}

// withClass fills in what the intent's class says.
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

// withoutClass leaves out what the intent's class says.
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
