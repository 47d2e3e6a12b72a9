package intent

import "github.com/intentplane/intentplane/function/intent/telecom"

// withClassDefaults returns the intent with the defaults of its class.
func (i Intent) withClassDefaults() Intent {
	c, ok := telecom.ClassOf(i.Type)
	if ok && i.Slice.SST == nil {
		i.Slice.SST = &c.SST
	}
	if ok && i.QoS.LatencyMs == "" {
		i.QoS.LatencyMs = c.LatencyMs
	}
	return i
}

// withoutClass returns the intent without the values that equal the defaults of its class.
func (i Intent) withoutClass() Intent {
	c, ok := telecom.ClassOf(i.Type)
	if ok && i.Slice.SST != nil && *i.Slice.SST == c.SST {
		i.Slice.SST = nil
	}
	if ok && i.QoS.LatencyMs == c.LatencyMs {
		i.QoS.LatencyMs = ""
	}
	return i
}
