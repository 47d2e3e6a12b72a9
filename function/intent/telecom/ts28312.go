package telecom

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
	"github.com/intentplane/intentplane/function/intent/objective"
)

const (
	// FormExpectation is the name of the form of one expectation of TS 28.312.
	FormExpectation = "TS 28.312 expectation"

	// FormExpectations is the name of the form of a list of them.
	FormExpectations = "list of TS 28.312 expectations"
)

// expectationTypes returns the subjects of an expectation, which its other fields name as well.
func expectationTypes() []string {
	return []string{
		"ServicePerformance", "ServiceCapacity", "ServiceCoverage", "NetworkSlicePerformance", "NetworkFunctionPerformance",
		"ResourcePerformance",
	}
}

// objectServiceType returns the service type of an expectation's object. Empty means that something else says it.
func objectServiceType(name string) (string, bool) {
	t, ok := map[string]string{"Service": "", "NetworkSlice": "", "RANFunction": "ran", "CoreNetwork": "core", "TransportNetwork": "transport"}[name]
	return t, ok
}

// nameOfAttribute returns the name for a target's attribute, and whether the attribute is known.
func nameOfAttribute(attribute string) (string, bool) {
	switch attribute {
	case "latency", "jitter", "throughput", "availability", "latency_p50", "latency_p90", "latency_p95", "latency_p99",
		"cross_site_latency", "error_rate", "packet_loss_rate":
		return attribute, true
	case "dlThroughput":
		return "downlink", true
	case "ulThroughput":
		return "uplink", true
	case "packetLoss", "packetLossRate":
		return "packet_loss_rate", true
	case "errorRate":
		return "error_rate", true
	case "crossSiteLatency":
		return "cross_site_latency", true
	}
	return "", false
}

// comparisonOf returns the sign of a target's condition, in the words of the standard or in the shorter form in common use.
func comparisonOf(condition string) (string, bool) {
	c, ok := map[string]string{
		"LESS_THAN": "<", "IS_LESS_THAN": "<", "LESS_THAN_OR_EQUAL": "<=", "IS_EQUAL_TO_OR_LESS_THAN": "<=",
		"GREATER_THAN": ">", "IS_GREATER_THAN": ">", "GREATER_THAN_OR_EQUAL": ">=", "IS_EQUAL_TO_OR_GREATER_THAN": ">=",
	}[condition]
	return c, ok
}

// An expectationReader reads expectations one after the other. They have to agree.
type expectationReader struct {
	*Draft

	// service and serviceType are the paths that set these values first.
	service, serviceType string
}

// ReadExpectation reads one expectation as TS 28.312 writes it. It returns a problem for an unknown or missing field, and for a value that the form does
// not allow.
func ReadExpectation(d *Draft, n document.Node) *document.Problem {
	r := &expectationReader{Draft: d}
	return r.readFlatForm(n)
}

func (r *expectationReader) readFlatForm(n document.Node) *document.Problem {
	var id, kind string
	prob := n.Each(FormExpectation, map[string]document.Reader{
		"intentExpectationId":      document.Into(&id),
		"intentExpectationType":    document.Into(&kind),
		"intentExpectationContext": r.readContext,
		"intentExpectationTarget":  r.readExpectedTarget,
		"intentExpectationObject":  r.readExpectedObject,
	})
	switch {
	case prob != nil:
		return prob
	case id == "":
		return document.Problemf(document.Child(n.Path, "intentExpectationId"), "must be set")
	case !slices.Contains(expectationTypes(), kind):
		return document.Problemf(document.Child(n.Path, "intentExpectationType"), "must be one of %s", strings.Join(expectationTypes(), ", "))
	}
	return nil
}

// setTextOnce sets a text that several expectations may contain, but not with different values.
func (r *expectationReader) setTextOnce(field string, target, source *string, value, path string) *document.Problem {
	if *source != "" && *target != value {
		return document.Problemf(path, "says %s %q, and %s says %q", field, value, *source, *target)
	}
	*target, *source, r.Paths[field] = value, path, path
	return nil
}

func (r *expectationReader) readExpectedObject(n document.Node) *document.Problem {
	var kind, instance string
	prob := n.Each(FormExpectation, map[string]document.Reader{"objectType": document.Into(&kind), "objectInstance": document.Into(&instance)})
	if prob != nil {
		return prob
	}
	path := document.Child(n.Path, "objectType")
	t, ok := objectServiceType(kind)
	if !ok {
		return document.Problemf(path, "must be Service, NetworkSlice, RANFunction, CoreNetwork or TransportNetwork")
	}
	if prob := r.setTextOnce("service", &r.Service, &r.service, instance, document.Child(n.Path, "objectInstance")); prob != nil || t == "" {
		return prob
	}
	return r.setTextOnce("type", &r.Type, &r.serviceType, t, path)
}

func (r *expectationReader) readContext(n document.Node) *document.Problem {
	var attribute, condition string
	var values []string
	prob := n.Each(FormExpectation, map[string]document.Reader{
		"contextAttribute":  document.Into(&attribute),
		"contextCondition":  document.Into(&condition),
		"contextValueRange": readTextsInto(&values),
	})
	if prob != nil {
		return prob
	}
	path := document.Child(n.Path, "contextValueRange")
	if len(values) == 0 {
		return document.Problemf(path, "must name a value")
	}
	if !isUnderstoodCondition(condition, len(values)) {
		return document.Problemf(document.Child(n.Path, "contextCondition"), "must be EQUAL: nothing chooses among several values")
	}
	return r.applyContext(n, attribute, values)
}

// isUnderstoodCondition reports whether a condition stands for all of its values.
func isUnderstoodCondition(condition string, values int) bool {
	equal, among := []string{"EQUAL", "IS_EQUAL_TO", "IS_ALL_OF"}, []string{"ONE_OF", "IS_ONE_OF"}
	return slices.Contains(equal, condition) || values == 1 && slices.Contains(among, condition)
}

func (r *expectationReader) applyContext(n document.Node, attribute string, values []string) *document.Problem {
	path := document.Child(n.Path, "contextValueRange")
	switch attribute {
	case "site", "targetSite", "coverageArea":
		return r.setSiteNames(values, path)
	case "sliceType":
		if len(values) == 1 {
			return r.setSliceType(values[0], document.Item(path, 0))
		}
		return document.Problemf(path, "must be one value: a service is in one slice")
	case "networkFunction", "networkSlice", "transportNetwork":
		return r.setParameterOnce(attribute, strings.Join(values, ","), path)
	}
	return document.Problemf(document.Child(n.Path, "contextAttribute"),
		"must be site, targetSite, coverageArea, sliceType, networkFunction, networkSlice or transportNetwork")
}

// setParameterOnce keeps a value whose meaning only a Blueprint defines as a parameter.
func (r *expectationReader) setParameterOnce(name, value, path string) *document.Problem {
	if old, ok := r.Parameters[name]; ok && old != value {
		return document.Problemf(path, "says %s differently than before", name)
	}
	r.Paths[document.Child("parameters", name)] = path
	r.setParameter(name, value)
	return nil
}

func (r *expectationReader) setSiteNames(names []string, path string) *document.Problem {
	if r.Sites != nil && !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(r.Sites))) {
		return document.Problemf(path, "says other Sites than %s", r.Paths["sites"])
	}
	r.Sites, r.Paths["sites"] = names, path
	return nil
}

func (r *expectationReader) setSliceType(name, path string) *document.Problem {
	t, ok := ServiceTypeOf(name)
	if !ok || name == genericClass {
		return document.Problemf(path, "must be eMBB, URLLC or mMTC")
	}
	return r.setTextOnce("type", &r.Type, &r.serviceType, t, path)
}

func (r *expectationReader) readExpectedTarget(n document.Node) *document.Problem {
	var attribute, condition string
	var amount measure.Amount
	prob := n.Each(FormExpectation, map[string]document.Reader{
		"targetAttribute": document.Into(&attribute),
		"targetCondition": document.Into(&condition),
		"targetValue":     readAmountInto(&amount),
	})
	if prob != nil {
		return prob
	}
	name, ok := nameOfAttribute(attribute)
	if !ok {
		return document.Problemf(document.Child(n.Path, "targetAttribute"), "is nothing that can be measured, such as latency or availability")
	}
	sign, ok := comparisonOf(condition)
	if !ok {
		return document.Problemf(document.Child(n.Path, "targetCondition"),
			"must be LESS_THAN, LESS_THAN_OR_EQUAL, GREATER_THAN or GREATER_THAN_OR_EQUAL")
	}
	return objective.Objective{Name: name, Comparison: sign, Amount: amount}.AddTo(&r.QoS, &r.SLOs, document.Child(n.Path, "targetValue"))
}

func readAmountInto(target *measure.Amount) document.Reader {
	return func(n document.Node) *document.Problem {
		var written string
		switch v := n.Value.(type) {
		case json.Number:
			written = v.String()
		case string:
			written = v
		}
		a, ok := measure.Parse(written)
		if !ok {
			return document.Problemf(n.Path, "must be a number with a unit, such as 20ms")
		}
		*target = a
		return nil
	}
}

func readTextsInto(target *[]string) document.Reader {
	return func(n document.Node) *document.Problem {
		s, prob := n.Texts()
		*target = s
		return prob
	}
}
