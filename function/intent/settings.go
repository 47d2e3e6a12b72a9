package intent

import (
	"slices"
	"strings"

	"github.com/intentplane/intentplane/function/intent/document"
)

// A Setting is a value that an intent gives to its Blueprint.
type Setting struct {
	// Field of the intent that sets it, such as resources.cpu.
	Field string

	// Key of the value in the ConfigMap intent.
	Key string
}

// Settings returns the values that an intent gives to its Blueprint, in the order of their fields. Values that equal their defaults are not
// included: two intents with the same content have the same settings, whatever form they were written in. Values that the product itself
// uses (the service, its type, Sites, objectives) are not included either.
func (i Intent) Settings() []Setting {
	i = i.withoutClass()
	out := slices.Concat(i.workloadSettings(), i.runtimeSettings(), i.networkSettings(), i.endpointSettings())
	for name := range i.Parameters {
		out = append(out, Setting{Field: document.Child("parameters", name), Key: "param-" + name})
	}
	slices.SortFunc(out, func(a, b Setting) int { return strings.Compare(a.Field, b.Field) })
	return out
}

// workloadSettings returns the values about the workload.
func (i Intent) workloadSettings() []Setting {
	out := []Setting{}
	add := func(set bool, field, key string) {
		if set {
			out = append(out, Setting{Field: field, Key: key})
		}
	}
	add(i.Image != "", "image", "image")
	add(i.Priority != DefaultPriority, "priority", "priority")
	add(i.Replicas != 1, "replicas", "replicas")
	add(i.Resources.CPU != "", "resources.cpu", "cpu")
	add(i.Resources.Memory != "", "resources.memory", "memory")
	for site, n := range i.SiteReplicas {
		add(n != 1, document.Child("siteReplicas", site), "replicas")
	}
	return out
}

// networkSettings returns the values about the network.
func (i Intent) networkSettings() []Setting {
	out := []Setting{}
	add := func(set bool, field, key string) {
		if set {
			out = append(out, Setting{Field: field, Key: key})
		}
	}
	add(i.QoS.DownlinkMbps != "", "qos.downlinkMbps", "qos-downlink-mbps")
	add(i.QoS.JitterMs != "", "qos.jitterMs", "qos-jitter-ms")
	add(i.QoS.LatencyMs != "", "qos.latencyMs", "qos-latency-ms")
	add(i.QoS.PacketLossRate != "", "qos.packetLossRate", "qos-packet-loss-rate")
	add(i.QoS.UplinkMbps != "", "qos.uplinkMbps", "qos-uplink-mbps")
	add(i.Slice.PLMN != "", "slice.plmn", "slice-plmn")
	add(i.Slice.SD != "", "slice.sd", "slice-sd")
	add(i.Slice.SST != nil, "slice.sst", "slice-sst")
	return out
}

// endpointSettings returns the ports, and the protocols that are not the default.
func (i Intent) endpointSettings() []Setting {
	out := []Setting{}
	for _, e := range i.Endpoints {
		field := "endpoints[" + e.Name + "]"
		out = append(out, Setting{Field: field + ".port", Key: "endpoint-" + e.Name})
		if e.Protocol != DefaultProtocol {
			out = append(out, Setting{Field: field + ".protocol", Key: "protocol-" + e.Name})
		}
	}
	return out
}
