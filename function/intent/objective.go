package intent

import (
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
)

// An objective is a number with the name of the metric that it limits, such as latency under 20 ms.
type objective struct {
	name       string
	comparison string
	amount     measure.Amount
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

func (d *draft) listMeasurables() []measurable {
	ms, mbps, percent := []string{measure.Milliseconds}, []string{measure.Mbps}, []string{measure.Percent}
	share := []string{measure.Percent, measure.None}
	return []measurable{
		{name: "latency", qos: &d.QoS.LatencyMs, units: ms, atMost: true},
		{name: "jitter", qos: &d.QoS.JitterMs, units: ms, atMost: true},
		{name: "packet_loss_rate", qos: &d.QoS.PacketLossRate, units: share, atMost: true},
		{name: "downlink", qos: &d.QoS.DownlinkMbps, units: mbps},
		{name: "uplink", qos: &d.QoS.UplinkMbps, units: mbps},
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
	for _, m := range (&draft{}).listMeasurables() {
		if m.qos == nil {
			out = append(out, m.name)
		}
	}
	return out
}

// addObjective adds an objective that the value at a path sets.
func (d *draft) addObjective(o objective, path string) *document.Problem {
	for _, m := range d.listMeasurables() {
		if m.name == o.name {
			return d.addMeasurable(m, o, path)
		}
	}
	return document.Problemf(path, "%q is nothing that can be measured", o.name)
}

func (d *draft) addMeasurable(m measurable, o objective, path string) *document.Problem {
	if prob := m.checkObjective(o, path); prob != nil {
		return prob
	}
	if m.qos == nil {
		return d.addSLO(o, path)
	}
	if *m.qos != "" {
		return document.Problemf(path, "says the %s a second time", wordsOfName(m.name))
	}
	*m.qos = o.amount.Value
	if m.name == "packet_loss_rate" && o.amount.Unit == measure.Percent {
		*m.qos = measure.Hundredth(o.amount.Value)
	}
	return nil
}

func (d *draft) addSLO(o objective, path string) *document.Problem {
	if d.SLOs[o.name] != "" {
		return document.Problemf(path, "says the %s a second time", wordsOfName(o.name))
	}
	if o.comparison == "" {
		return document.Problemf(path, "needs a comparison: say under, at most, over or at least")
	}
	if d.SLOs == nil {
		d.SLOs = map[string]string{}
	}
	d.SLOs[o.name] = o.comparison + " " + o.amount.String()
	return nil
}

// checkObjective returns a problem for an objective whose comparison points to the bad side, or whose unit does not fit.
func (m measurable) checkObjective(o objective, path string) *document.Problem {
	if m.atMost && strings.HasPrefix(o.comparison, ">") {
		return document.Problemf(path, "%s has an upper limit: say under or at most", wordsOfName(m.name))
	}
	if !m.atMost && strings.HasPrefix(o.comparison, "<") {
		return document.Problemf(path, "%s has a lower limit: say over or at least", wordsOfName(m.name))
	}
	if !slices.Contains(m.units, o.amount.Unit) {
		return document.Problemf(path, "%s must be in %s", wordsOfName(m.name), m.units[0])
	}
	return nil
}

func wordsOfName(name string) string { return strings.ReplaceAll(name, "_", " ") }

// wholeText reads a whole number in a text. An empty text changes nothing.
func wholeText(target *int32, text, path string) *document.Problem {
	if text == "" {
		return nil
	}
	i, ok := document.ParseWhole(text)
	if !ok {
		return document.Problemf(path, "must be a whole number")
	}
	*target = i
	return nil
}
