package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis/fields"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
)

// variablesPrefix begins the placeholder of a variable of a Canary.
const variablesPrefix = "variables."

// defaultWindow is the value of {{ interval }} of a template that no Canary refers to.
const defaultWindow = "1m"

// flaggerTemplate is a MetricTemplate.
type flaggerTemplate struct {
	named

	Spec struct {
		Query    string `json:"query"`
		Provider struct {
			Type               string `json:"type"`
			Address            string `json:"address"`
			SecretRef          any    `json:"secretRef"`
			InsecureSkipVerify bool   `json:"insecureSkipVerify"`
		} `json:"provider"`
	} `json:"spec"`
}

// flaggerCanary is a Canary, as far as it says how metrics are judged.
type flaggerCanary struct {
	named

	Spec struct {
		Provider     string          `json:"provider"`
		SkipAnalysis bool            `json:"skipAnalysis"`
		Analysis     flaggerAnalysis `json:"analysis"`
	} `json:"spec"`
}

type flaggerAnalysis struct {
	Interval    string          `json:"interval"`
	Threshold   int64           `json:"threshold"`
	Iterations  int64           `json:"iterations"`
	StepWeight  int64           `json:"stepWeight"`
	StepWeights []int64         `json:"stepWeights"`
	MaxWeight   int64           `json:"maxWeight"`
	Mirror      bool            `json:"mirror"`
	Match       []any           `json:"match"`
	Metrics     []flaggerMetric `json:"metrics"`
}

type flaggerMetric struct {
	Name        string `json:"name"`
	Interval    string `json:"interval"`
	TemplateRef *struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"templateRef"`
	ThresholdRange *struct {
		Min *float64 `json:"min"`
		Max *float64 `json:"max"`
	} `json:"thresholdRange"`
	TemplateVariables map[string]string `json:"templateVariables"`
}

// flaggerObjects are the objects of Flagger that a file has.
type flaggerObjects struct {
	templates []flaggerTemplate
	canaries  []flaggerCanary
}

// FromFlagger converts the MetricTemplates among documents, with the metrics of the Canaries among them. It returns a FieldsError for fields
// that cannot be converted, and skips objects of other kinds.
func FromFlagger(documents [][]byte, o Options) (*Conversion, error) {
	c := newConverter(o)
	all, err := c.readFlagger(documents)
	if err != nil {
		return nil, err
	}
	used := map[int]bool{}
	for _, canary := range all.canaries {
		c.convertCanary(canary, all.templates, used)
	}
	for i, t := range all.templates {
		c.object = t.Kind + " " + t.Metadata.Name
		switch {
		case used[i]:
		case c.Threshold == "" && len(used) > 0:
			c.addNotef("metadata.name", "no Canary of the files has a metric of this template of namespace %q, and it is left out", t.Metadata.Namespace)
		default:
			c.convertAlone(t)
		}
	}
	c.refuseUnusedArgs()
	return c.conversionResult()
}

func (c *converter) readFlagger(documents [][]byte) (flaggerObjects, error) {
	out := flaggerObjects{}
	for _, d := range documents {
		n, err := readKindAndName(d)
		if err != nil {
			return out, err
		}
		c.object = n.Kind + " " + n.Metadata.Name
		switch n.APIVersion + " " + n.Kind {
		case "flagger.app/v1beta1 MetricTemplate":
			t := flaggerTemplate{}
			err = c.decodeDocument(d, "spec", fields.MetricTemplate(), &t)
			out.templates = append(out.templates, t)
		case "flagger.app/v1beta1 Canary":
			canary := flaggerCanary{}
			err = c.decodeDocument(d, "spec", fields.Canary(), &canary)
			out.canaries = append(out.canaries, canary)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// convertCanary converts the metrics of a Canary.
func (c *converter) convertCanary(canary flaggerCanary, templates []flaggerTemplate, used map[int]bool) {
	c.object = canary.Kind + " " + canary.Metadata.Name
	if canary.Spec.SkipAnalysis {
		c.refuseFieldf("spec.skipAnalysis", "Flagger promotes the canary without its metrics, and a check decides: remove the field")
	}
	for i, m := range canary.Spec.Analysis.Metrics {
		path := fmt.Sprintf("spec.analysis.metrics[%d]", i)
		if m.TemplateRef == nil {
			c.refuseFieldf(path+".templateRef", "is absent: Flagger has the query of %s for each mesh. Name a MetricTemplate, or use a metric of a Blueprint", m.Name)
			continue
		}
		namespace := cmp.Or(m.TemplateRef.Namespace, canary.Metadata.Namespace)
		found := findTemplates(templates, m.TemplateRef.Name, namespace)
		if len(found) != 1 {
			c.refuseFieldf(path+".templateRef", "the files have %d MetricTemplates %s, and not one", len(found), strings.TrimPrefix(namespace+"/"+m.TemplateRef.Name, "/"))
			continue
		}
		if slices.Contains(builtinMetrics(), m.Name) {
			c.refuseFieldf(path+".name", "Flagger judges its own metric %s beside the template: rename it", m.Name)
		}
		used[found[0]] = true
		c.convertFlaggerMetric(path, canary, m, templates[found[0]])
	}
}

// builtinMetrics returns the names of metrics that Flagger measures by queries of its own, also if a metric with the name has a template
// (pkg/controller/scheduler_metrics.go).
func builtinMetrics() []string { return []string{"request-success-rate", "request-duration"} }

// findTemplates returns the positions of the templates that have a name in a namespace. A template whose file leaves out its namespace may be in any namespace,
// unless another template has just that namespace. An empty namespace is unknown, and admits each template.
func findTemplates(templates []flaggerTemplate, name, namespace string) []int {
	var exact, possible []int
	for i, t := range templates {
		switch {
		case t.Metadata.Name != name:
		case t.Metadata.Namespace == namespace:
			exact = append(exact, i)
		case t.Metadata.Namespace == "" || namespace == "":
			possible = append(possible, i)
		}
	}
	if namespace == "" {
		return append(exact, possible...)
	}
	if len(exact) > 0 {
		return exact
	}
	return possible
}

func (c *converter) convertFlaggerMetric(path string, canary flaggerCanary, m flaggerMetric, t flaggerTemplate) {
	check := deploymentv1alpha1.Check{Name: m.Name, Type: typePrometheus}
	c.setFlaggerTimes(canary, &check)
	values := map[string]string{}
	if m.Interval != "" {
		values["interval"] = c.validateFileValue(path+".interval", m.Interval)
	}
	for _, name := range slices.Sorted(maps.Keys(m.TemplateVariables)) {
		values[variablesPrefix+name] = c.validateFileValue(path+".templateVariables."+name, m.TemplateVariables[name])
	}
	c.setFlaggerQuery(t, &check, values)
	bounds := c.flaggerBounds(path+".thresholdRange", m)
	if check.Prometheus == nil {
		return // The provider is refused.
	}
	failable := c.failableBounds(path+".thresholdRange", check, bounds)
	c.noteFlagger(path, canary, bounds, len(failable), check.Prometheus.Query)
	c.addBoundChecks(check, failable)
}

// noteFlagger adds a note about the answers of a query that Flagger judges differently by its bounds than the checks, which may be fewer.
func (c *converter) noteFlagger(path string, canary flaggerCanary, bounds []condition.Bound, checks int, text string) {
	query, err := promql.Parse(text)
	if err != nil {
		return // The query is refused.
	}
	n := verdictNote{judge: judgeFlagger}
	if query.IsScalar() {
		n.addDifferenceText(DifferenceEachMeasurement, "fails in Flagger: the query gives a number, and not a series")
		c.noteDifferences(path, n)
		return
	}
	if len(bounds) == 1 {
		infinite := map[string]string{"-min": DifferencePlusInfinity, "-max": DifferenceMinusInfinity}[bounds[0].Side()]
		n.addDifference(infinite, condition.Fails, condition.Passes)
	}
	if !query.GivesOneSeries() {
		n.addDifferenceText(DifferenceSeveralSeries, "is an error, and Flagger judges the last")
	}
	n.addDifferenceText(DifferenceHistogram, "is an error, and ends the process of Flagger")
	n.addServerAnswers()
	n.addUnanswered(condition.Fails, flaggerAnswerSeconds)
	n.addDifference(DifferenceRefusedQuery, condition.IsError, condition.Fails)
	if canary.Spec.Analysis.Threshold > 1 {
		n.addDifferenceText(DifferenceFailures, canary.describeFailures(checks))
	}
	c.noteDifferences(path, n)
}

// describeFailures says how Flagger counts failed measurements.
func (f flaggerCanary) describeFailures(checks int) string {
	text := fmt.Sprintf("is followed by another one, and Flagger ends once %d passed", f.neededPasses())
	if checks > 1 || len(f.Spec.Analysis.Metrics) > 1 {
		text += ", and counts the failures of all metrics and bounds together"
	}
	return text
}

// setFlaggerQuery sets the query of a template. Flagger's placeholders namespace and service become ours.
func (c *converter) setFlaggerQuery(t flaggerTemplate, check *deploymentv1alpha1.Check, values map[string]string) {
	from := c.object
	defer func() { c.object = from }()
	c.object = t.Kind + " " + t.Metadata.Name
	if t.Spec.Provider.Type != "prometheus" {
		c.refuseFieldf("spec.provider.type", "%q is not prometheus", t.Spec.Provider.Type)
		return
	}
	c.refuseServerFields(map[string]bool{
		"spec.provider.secretRef": t.Spec.Provider.SecretRef != nil, "spec.provider.insecureSkipVerify": t.Spec.Provider.InsecureSkipVerify,
	})
	check.Prometheus = &deploymentv1alpha1.PrometheusCheck{Address: c.serverAddress("spec.provider.address", t.Spec.Provider.Address)}
	all := map[string]string{"namespace": "{{namespace}}", "service": "{{service}}"}
	maps.Copy(all, values)
	for name, value := range c.Args {
		all[name], all[variablesPrefix+name] = value, value
	}
	check.Prometheus.Query = c.validateQuery("spec.query", c.fillPlaceholders("spec.query", t.Spec.Query, all))
	if !promql.FitsOneLine(check.Prometheus.Query) {
		c.refuseFieldf("spec.query", "Flagger asks the query as one line, in which a comment or the white space of a text changes it: write it as one line")
	}
}

// flaggerBounds returns the two ends of a range as bounds.
func (c *converter) flaggerBounds(field string, m flaggerMetric) []condition.Bound {
	switch {
	case m.ThresholdRange == nil:
		c.refuseFieldf(field, "is absent, so that Flagger fails each value above 0: write it as max: 0")
		return nil
	case m.ThresholdRange.Min == nil && m.ThresholdRange.Max == nil:
		c.refuseFieldf(field, "is absent, so that each answer would pass")
		return nil
	}
	out := []condition.Bound{}
	for _, end := range []struct {
		name, comparison string
		limit            *float64
	}{{"min", ">=", m.ThresholdRange.Min}, {"max", "<=", m.ThresholdRange.Max}} {
		if end.limit == nil {
			continue
		}
		b, err := condition.NewBound(end.comparison, *end.limit)
		if err != nil {
			c.refuseFieldf(field+"."+end.name, "%s", err)
		}
		out = append(out, b)
	}
	return out
}

// convertAlone converts a template that no Canary of the files refers to.
func (c *converter) convertAlone(t flaggerTemplate) {
	if c.Threshold == "" {
		c.refuseFieldf("metadata.name", "no Canary of the files has a metric of this template: name the file with the Canary too, or say --threshold, as in '<= 5'")
		return
	}
	check := deploymentv1alpha1.Check{Name: t.Metadata.Name, Type: typePrometheus, Threshold: deploymentv1alpha1.Threshold(c.Threshold)}
	c.setCheckTimes("--count", &check, 0, time.Minute, max(c.Count, defaultCount))
	c.setFlaggerQuery(t, &check, map[string]string{"interval": defaultWindow})
	if check.Prometheus != nil {
		c.refuseUnfailing("--threshold", check)
	}
	c.out.Checks = append(c.out.Checks, check)
}
