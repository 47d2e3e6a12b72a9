package intent

import (
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
	"github.com/intentplane/intentplane/function/intent/objective"
)

// Bounds of the values of an intent about the network and about itself.
const (
	maxEndpoints = 16
	maxLabels    = 16
	maxSLOs      = 32
	maxPort      = 65535
)

var metricName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (d *draft) checkSelector() *document.Problem {
	if len(d.Selector) > 0 && len(d.Sites) > 0 {
		return d.problemAtPath("selector", "excludes %s: set only one of them", d.pathInForm("sites"))
	}
	if len(d.Selector) > maxLabels {
		return d.problemAtPath("selector", "must not be more than %d labels", maxLabels)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Selector)) {
		if len(validation.IsQualifiedName(k)) > 0 || len(validation.IsValidLabelValue(d.Selector[k])) > 0 {
			return d.problemAtPath(document.Child("selector", k), "must be the name and the value of a label")
		}
	}
	return nil
}

func (d *draft) checkEndpoints() *document.Problem {
	if len(d.Endpoints) > maxEndpoints {
		return d.problemAtPath("endpoints", "must not be more than %d", maxEndpoints)
	}
	for i := range d.Endpoints {
		if d.Endpoints[i].Protocol == "" {
			d.Endpoints[i].Protocol = DefaultProtocol
		}
		if prob := d.checkEndpoint(i); prob != nil {
			return prob
		}
	}
	return nil
}

func (d *draft) checkEndpoint(i int) *document.Problem {
	e, path := d.Endpoints[i], document.Item("endpoints", i)
	if len(validation.IsValidPortName(e.Name)) > 0 {
		return d.problemAtPath(path+".name", "must be at most 15 lower-case letters, digits and '-', with one of the letters at least")
	}
	if e.Port < 1 || e.Port > maxPort {
		return d.problemAtPath(path+".port", "must be from 1 to %d", maxPort)
	}
	if !slices.Contains([]string{"TCP", "UDP", "SCTP"}, e.Protocol) {
		return d.problemAtPath(path+".protocol", "must be TCP, UDP or SCTP")
	}
	for _, earlier := range d.Endpoints[:i] {
		if earlier.Name == e.Name {
			return d.problemAtPath(path+".name", "names %s a second time", e.Name)
		}
		if earlier.Port == e.Port && earlier.Protocol == e.Protocol {
			return d.problemAtPath(path+".port", "is the same as that of %s", earlier.Name)
		}
	}
	return nil
}

// A bound is a number of an intent and the most that it may be.
type bound struct {
	path string
	to   *string
	most int
}

func (d *draft) checkQoSBounds() *document.Problem {
	for _, b := range d.boundsOfQoS() {
		if prob := d.normalizeDecimal(b); prob != nil {
			return prob
		}
	}
	return nil
}

func (d *draft) boundsOfQoS() []bound {
	return []bound{
		{path: "qos.downlinkMbps", to: &d.QoS.DownlinkMbps, most: 1e6},
		{path: "qos.uplinkMbps", to: &d.QoS.UplinkMbps, most: 1e6},
		{path: "qos.latencyMs", to: &d.QoS.LatencyMs, most: 1e6},
		{path: "qos.jitterMs", to: &d.QoS.JitterMs, most: 1e6},
		{path: "qos.packetLossRate", to: &d.QoS.PacketLossRate, most: 1},
	}
}

// normalizeDecimal checks a decimal number and writes it in its canonical form.
func (d *draft) normalizeDecimal(b bound) *document.Problem {
	if *b.to == "" {
		return nil
	}
	value, ok := measure.Decimal(*b.to)
	if !ok {
		return d.problemAtPath(b.path, "must be a decimal number, such as 20 or 0.5")
	}
	if measure.Above(value, b.most) {
		return d.problemAtPath(b.path, "must be from 0 to %d", b.most)
	}
	*b.to = value
	return nil
}

func (d *draft) checkNetworkSlice() *document.Problem {
	prob := d.Slice.Normalize(d.Type)
	if prob != nil {
		prob.Path = d.pathInForm(prob.Path)
	}
	return prob
}

func (d *draft) checkPriority() *document.Problem {
	if !slices.Contains([]string{"low", DefaultPriority, "high", "critical"}, d.Priority) {
		return d.problemAtPath("priority", "must be low, medium, high or critical")
	}
	return nil
}

func (d *draft) checkSLOThresholds() *document.Problem {
	if len(d.SLOs) > maxSLOs {
		return d.problemAtPath("slos", "must not be more than %d", maxSLOs)
	}
	for _, k := range slices.Sorted(maps.Keys(d.SLOs)) {
		path := document.Child("slos", k)
		if !metricName.MatchString(k) {
			return d.problemAtPath(path, "must be the name of a metric: at most 63 lower-case letters, digits and '_', beginning with one of the letters")
		}
		threshold, err := objective.Threshold(k, d.SLOs[k])
		if err != nil {
			return d.problemAtPath(path, "%v", err)
		}
		d.SLOs[k] = threshold
	}
	return nil
}
