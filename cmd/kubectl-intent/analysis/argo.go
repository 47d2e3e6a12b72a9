package analysis

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis/fields"
)

// argsPrefix begins the placeholder of an argument.
const argsPrefix = "args."

// argoTemplate is an AnalysisTemplate or a ClusterAnalysisTemplate, as far as a check can be made of it.
type argoTemplate struct {
	named

	Spec struct {
		Args    []argoArg    `json:"args"`
		Metrics []argoMetric `json:"metrics"`
	} `json:"spec"`
}

type argoArg struct {
	Name      string  `json:"name"`
	Value     *string `json:"value"`
	ValueFrom any     `json:"valueFrom"`
}

type argoMetric struct {
	Name                  string              `json:"name"`
	Interval              string              `json:"interval"`
	InitialDelay          string              `json:"initialDelay"`
	Count                 *intstr.IntOrString `json:"count"`
	FailureLimit          *intstr.IntOrString `json:"failureLimit"`
	InconclusiveLimit     *intstr.IntOrString `json:"inconclusiveLimit"`
	ConsecutiveErrorLimit *intstr.IntOrString `json:"consecutiveErrorLimit"`
	SuccessCondition      string              `json:"successCondition"`
	FailureCondition      string              `json:"failureCondition"`
	Provider              argoProvider        `json:"provider"`
}

type argoProvider struct {
	Prometheus *argoPrometheus `json:"prometheus"`
	Web        *argoWeb        `json:"web"`
	Job        *argoJob        `json:"job"`
}

// countProviders returns how many providers are set.
func (p argoProvider) countProviders() int {
	n := 0
	for _, isSet := range []bool{p.Prometheus != nil, p.Web != nil, p.Job != nil} {
		if isSet {
			n++
		}
	}
	return n
}

// isTemplateOfArgo reports whether an object holds an analysis of Argo Rollouts.
func isTemplateOfArgo(n named) bool {
	return n.APIVersion == "argoproj.io/v1alpha1" && slices.Contains([]string{"AnalysisTemplate", "ClusterAnalysisTemplate"}, n.Kind)
}

// FromArgoRollouts converts the AnalysisTemplates and ClusterAnalysisTemplates among documents. It returns a FieldsError for fields that
// cannot be converted, and skips objects of other kinds.
func FromArgoRollouts(documents [][]byte, o Options) (*Conversion, error) {
	c := newConverter(o)
	c.declaresArgs = true
	for _, d := range documents {
		n, err := readKindAndName(d)
		if err != nil {
			return nil, err
		}
		c.object = n.Kind + " " + n.Metadata.Name
		switch {
		case isTemplateOfArgo(n):
			err = c.readTemplate(d)
		case isUserOfArgo(n):
			err = c.noteUserSettings(d)
		}
		if err != nil {
			return nil, err
		}
	}
	c.refuseUnusedArgs()
	return c.conversionResult()
}

func (c *converter) readTemplate(document []byte) error {
	t := argoTemplate{}
	if err := c.decodeDocument(document, "spec", fields.AnalysisTemplate(), &t); err != nil {
		return err
	}
	c.convertTemplate(t)
	return nil
}

func (c *converter) convertTemplate(t argoTemplate) {
	values := c.resolveArgoArgs(t.Spec.Args)
	for i, m := range t.Spec.Metrics {
		c.convertMetric(fmt.Sprintf("spec.metrics[%d]", i), m, values)
	}
}

// resolveArgoArgs returns the values of the arguments' placeholders. An argument without a value is a problem.
func (c *converter) resolveArgoArgs(args []argoArg) map[string]string {
	values := map[string]string{}
	for i, a := range args {
		argument, ok := c.Args[a.Name]
		c.usedArgs[a.Name] = true
		field := fmt.Sprintf("spec.args[%d]", i)
		switch {
		case ok:
			values[argsPrefix+a.Name] = argument
		case a.ValueFrom != nil:
			c.refuseFieldf(field+".valueFrom", "only the cluster has this value: say --arg %s=VALUE", a.Name)
		case a.Value != nil:
			values[argsPrefix+a.Name] = c.validateFileValue(field+".value", *a.Value)
		default:
			c.refuseFieldf(field, "%s has no value: say --arg %[1]s=VALUE. {{service}}, {{namespace}} and {{site}} may be a part of it", a.Name)
		}
		if _, ok := values[argsPrefix+a.Name]; !ok {
			// The argument is refused once, and not where it is used too.
			values[argsPrefix+a.Name] = ""
		}
	}
	return values
}

func (c *converter) convertMetric(path string, m argoMetric, values map[string]string) {
	check := deploymentv1alpha1.Check{Name: c.fillPlaceholders(path+".name", m.Name, values)}
	check.FailureLimit = c.parseArgoNumber(path+".failureLimit", m.FailureLimit, 0, values)
	check.InconclusiveLimit = c.parseArgoNumber(path+".inconclusiveLimit", m.InconclusiveLimit, 0, values)
	check.ConsecutiveErrorLimit = c.parseArgoNumber(path+".consecutiveErrorLimit", m.ConsecutiveErrorLimit, 0, values)
	c.setArgoTimes(path, m, &check, values)
	c.refuseArgoLimits(path, check)
	m.SuccessCondition = c.fillPlaceholders(path+".successCondition", m.SuccessCondition, values)
	m.FailureCondition = c.fillPlaceholders(path+".failureCondition", m.FailureCondition, values)
	switch {
	case m.Provider.countProviders() > 1:
		c.refuseFieldf(path+".provider", "has %d providers, and a metric has one", m.Provider.countProviders())
	case m.Provider.Prometheus != nil:
		c.convertPrometheus(path, m, check, values)
	case m.Provider.Web != nil:
		c.convertWebMetric(path, m, check, values)
	case m.Provider.Job != nil:
		c.convertJobMetric(path, m, check, values)
	case !c.hasProblemBelow(path + ".provider."):
		c.refuseFieldf(path+".provider", "has neither prometheus nor web nor job")
	}
}

// parseArgoNumber returns a number, which may be written as a text with placeholders. It is nil for an absent number, and where a value is missing, which is refused
// once.
func (c *converter) parseArgoNumber(field string, n *intstr.IntOrString, minimum int64, values map[string]string) *int32 {
	if n == nil {
		return nil
	}
	text := c.fillPlaceholders(field, n.String(), values)
	if text == "" && len(c.problems) > 0 {
		return nil
	}
	return c.wholeNumber(field, text, minimum)
}

// setArgoTimes sets count and interval. A metric with neither is measured once, and one with an interval alone for as long as the Rollout lasts.
func (c *converter) setArgoTimes(path string, m argoMetric, check *deploymentv1alpha1.Check, values map[string]string) {
	count := c.parseArgoNumber(path+".count", m.Count, 1, values)
	m.Interval = c.fillPlaceholders(path+".interval", m.Interval, values)
	interval := c.parseCheckDuration(path+".interval", m.Interval)
	delay := c.parseCheckDuration(path+".initialDelay", c.fillPlaceholders(path+".initialDelay", m.InitialDelay, values))
	switch {
	case count != nil || m.Count != nil:
	case m.Interval == "":
		count = new(int32(1))
	case c.Count > 0:
		count = new(c.Count)
	default:
		c.refuseFieldf(path+".count", "is absent: the metric is measured for as long as the Rollout lasts, and a check ends. Say --count N")
	}
	if count == nil {
		return
	}
	if *count > 1 && m.Interval == "" {
		c.refuseFieldf(path+".interval", "is absent, and Argo Rollouts takes more than one measurement with an interval alone")
	}
	c.setCheckTimes(path+".count", check, delay, interval, *count)
}

// refuseArgoLimits refuses limits that a count cannot reach. Argo Rollouts refuses a greater one too.
func (c *converter) refuseArgoLimits(path string, check deploymentv1alpha1.Check) {
	if check.Count == nil {
		return
	}
	if limit := check.FailureLimit; limit != nil && *limit >= *check.Count {
		c.refuseFieldf(path+".failureLimit", "%d of %d measurements may fail: it must be less than count", *limit, *check.Count)
	}
	if limit := check.InconclusiveLimit; limit != nil && *limit > *check.Count {
		c.refuseFieldf(path+".inconclusiveLimit", "%d of %d measurements may be inconclusive: it must not be more than count", *limit, *check.Count)
	}
}
