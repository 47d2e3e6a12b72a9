// Package objective reads the objectives of an intent: numbers that limit the quality of service of the network, or a metric by which Gates judge a
// revision. It is pure.
package objective

import (
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
)

// QoS is the requested quality of service of the network, as canonical decimal numbers. Empty means no request.
type QoS struct {
	// DownlinkMbps is the throughput to the user.
	DownlinkMbps string `json:"downlinkMbps,omitempty"`

	// JitterMs is the largest jitter.
	JitterMs string `json:"jitterMs,omitempty"`

	// LatencyMs is the longest latency.
	LatencyMs string `json:"latencyMs,omitempty"`

	// PacketLossRate is the largest share of lost packets, from 0 to 1.
	PacketLossRate string `json:"packetLossRate,omitempty"`

	// UplinkMbps is the throughput from the user.
	UplinkMbps string `json:"uplinkMbps,omitempty"`
}

// An Objective is a number with the name of the metric that it limits, such as latency under 20 ms.
type Objective struct {
	// Name of the limited metric.
	Name string

	// Comparison is <, <=, > or >=. Empty means that the intent states none.
	Comparison string

	// Amount of the limit, with its unit.
	Amount measure.Amount
}

// A measurable is something that an objective can limit. One with a field of QoS is required of the network; any other is a metric by which
// Gates judge a revision.
type measurable struct {
	name  string
	qos   *string
	units []string

	// atMost is true if less is better.
	atMost bool
}

func listMeasurables(q *QoS) []measurable {
	ms, mbps, percent := []string{measure.Milliseconds}, []string{measure.Mbps}, []string{measure.Percent}
	share := []string{measure.Percent, measure.None}
	return []measurable{
		{name: "latency", qos: &q.LatencyMs, units: ms, atMost: true},
		{name: "jitter", qos: &q.JitterMs, units: ms, atMost: true},
		{name: "packet_loss_rate", qos: &q.PacketLossRate, units: share, atMost: true},
		{name: "downlink", qos: &q.DownlinkMbps, units: mbps},
		{name: "uplink", qos: &q.UplinkMbps, units: mbps},
		{name: "latency_p50", units: ms, atMost: true},
		{name: "latency_p90", units: ms, atMost: true},
		{name: "latency_p95", units: ms, atMost: true},
		{name: "latency_p99", units: ms, atMost: true},
		{name: "cross_site_latency", units: ms, atMost: true},
		{name: "error_rate", units: share, atMost: true},
		{name: "availability", units: percent},
		{name: "throughput", units: mbps},
	}
}

// Metrics returns the names of the metrics that each form of an intent can limit.
func Metrics() []string {
	var out []string
	for _, m := range listMeasurables(&QoS{}) {
		if m.qos == nil {
			out = append(out, m.name)
		}
	}
	return out
}

// AddTo adds the objective, which the value at a path sets, to the quality of service, or to the thresholds by the name of the metric. It returns a problem
// at the path for a metric that has no name in intents, for a second objective of a metric, and for a comparison or a unit that does not fit the metric.
func (o Objective) AddTo(q *QoS, slos *map[string]string, path string) *document.Problem {
	for _, m := range listMeasurables(q) {
		if m.name == o.Name {
			return m.addObjective(o, slos, path)
		}
	}
	return document.Problemf(path, "%q is nothing that can be measured", o.Name)
}

func (m measurable) addObjective(o Objective, slos *map[string]string, path string) *document.Problem {
	if prob := m.checkObjective(o, path); prob != nil {
		return prob
	}
	if m.qos == nil {
		return o.addSLOThreshold(slos, path)
	}
	if *m.qos != "" {
		return document.Problemf(path, "says the %s a second time", wordsOfName(m.name))
	}
	*m.qos = o.Amount.Value
	if m.name == "packet_loss_rate" && o.Amount.Unit == measure.Percent {
		*m.qos = measure.Hundredth(o.Amount.Value)
	}
	return nil
}

func (o Objective) addSLOThreshold(slos *map[string]string, path string) *document.Problem {
	if (*slos)[o.Name] != "" {
		return document.Problemf(path, "says the %s a second time", wordsOfName(o.Name))
	}
	if o.Comparison == "" {
		return document.Problemf(path, "needs a comparison: say under, at most, over or at least")
	}
	if *slos == nil {
		*slos = map[string]string{}
	}
	(*slos)[o.Name] = o.Comparison + " " + o.Amount.String()
	return nil
}

// checkObjective returns a problem for an objective whose comparison points to the bad side, or whose unit does not fit.
func (m measurable) checkObjective(o Objective, path string) *document.Problem {
	if m.atMost && strings.HasPrefix(o.Comparison, ">") {
		return document.Problemf(path, "%s has an upper limit: say under or at most", wordsOfName(m.name))
	}
	if !m.atMost && strings.HasPrefix(o.Comparison, "<") {
		return document.Problemf(path, "%s has a lower limit: say over or at least", wordsOfName(m.name))
	}
	if !slices.Contains(m.units, o.Amount.Unit) {
		return document.Problemf(path, "%s must be in %s", wordsOfName(m.name), m.units[0])
	}
	return nil
}

func wordsOfName(name string) string { return strings.ReplaceAll(name, "_", " ") }
