package render

import (
	"strconv"

	"github.com/intentplane/intentplane/function/intent"
)

// plmn is the parameter of a Site that holds its mobile network's code.
const plmn = "plmn"

// networkValues returns the values of the intent's ConfigMap about the network and the intent's priority. Values that the intent leaves
// out are not in it, so that the Blueprint's own value stays; but a slice is in its Site's mobile network unless it names another.
func networkValues(i intent.Intent, site Site) map[string]string {
	if i.Slice.SST != nil && i.Slice.PLMN == "" {
		i.Slice.PLMN = site.Parameters[plmn]
	}
	out := map[string]string{"priority": i.Priority}
	for key, value := range map[string]string{
		"qos-downlink-mbps": i.QoS.DownlinkMbps, "qos-uplink-mbps": i.QoS.UplinkMbps, "qos-latency-ms": i.QoS.LatencyMs,
		"qos-jitter-ms": i.QoS.JitterMs, "qos-packet-loss-rate": i.QoS.PacketLossRate,
		"slice-sd": i.Slice.SD, "slice-plmn": i.Slice.PLMN,
	} {
		if value != "" {
			out[key] = value
		}
	}
	if i.Slice.SST != nil {
		out["slice-sst"] = strconv.Itoa(int(*i.Slice.SST))
	}
	for _, e := range i.Endpoints {
		out["endpoint-"+e.Name] = strconv.Itoa(int(e.Port))
		out["protocol-"+e.Name] = e.Protocol
	}
	return out
}
