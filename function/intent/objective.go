package intent

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
)

// An objective is a number that a name was given, such as latency under 20 ms.
type objective struct {
	name       string
	comparison string
	amount     measure.Amount
}

// A measurable is what an objective can be about. One with a place in QoS is asked of the network; any other is a metric, which
// what runs is judged by.
type measurable struct {
	name  string
	qos   *string
	units []string

	// atMost says that less is better.
	atMost bool
}

func (d *draft) measurables() []measurable {
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

// Metrics are the names of what a running service can be judged by in each form of an intent.
func Metrics() []string {
	var out []string
	for _, m := range (&draft{}).measurables() {
		if m.qos == nil {
			out = append(out, m.name)
		}
	}
	return out
}

// aim takes an objective that was said at a path.
func (d *draft) aim(o objective, path string) *document.Problem {
	for _, m := range d.measurables() {
		if m.name == o.name {
			return d.take(m, o, path)
		}
	}
	return document.Problemf(path, "%q is nothing that can be measured", o.name)
}

func (d *draft) take(m measurable, o objective, path string) *document.Problem {
	if prob := m.check(o, path); prob != nil {
		return prob
	}
	if m.qos == nil {
		return d.takeSLO(o, path)
	}
	if *m.qos != "" {
		return document.Problemf(path, "says the %s a second time", words(m.name))
	}
	*m.qos = o.amount.Value
	if m.name == "packet_loss_rate" && o.amount.Unit == measure.Percent {
		*m.qos = measure.Hundredth(o.amount.Value)
	}
	return nil
}

func (d *draft) takeSLO(o objective, path string) *document.Problem {
	if d.SLOs[o.name] != "" {
		return document.Problemf(path, "says the %s a second time", words(o.name))
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

// check refuses an objective that points the wrong way, or that is in units of something else.
func (m measurable) check(o objective, path string) *document.Problem {
	if m.atMost && strings.HasPrefix(o.comparison, ">") {
		return document.Problemf(path, "%s has an upper limit: say under or at most", words(m.name))
	}
	if !m.atMost && strings.HasPrefix(o.comparison, "<") {
		return document.Problemf(path, "%s has a lower limit: say over or at least", words(m.name))
	}
	if !slices.Contains(m.units, o.amount.Unit) {
		return document.Problemf(path, "%s must be in %s", words(m.name), m.units[0])
	}
	return nil
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// wholeText reads a whole number in a text. An empty text changes nothing.
func wholeText(to *int32, text, path string) *document.Problem {
	if text == "" {
		return nil
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return document.Problemf(path, "must be a whole number")
	}
	*to = int32(min(max(i, math.MinInt32), math.MaxInt32))
	return nil
}
