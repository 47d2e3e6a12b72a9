package analysis

import (
	"fmt"
	"regexp"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Metrics are checks as a Blueprint has them, and the thresholds that a deployment sets for them.
type Metrics struct {
	Metrics    []catalogv1alpha1.BlueprintMetric
	Thresholds map[string]deploymentv1alpha1.Threshold
}

// AsMetrics returns the checks as metrics of a Blueprint. It returns a FieldsError for checks of another type than Prometheus, and for checks
// with an address of their own: a Blueprint has neither.
func (c *Conversion) AsMetrics() (*Metrics, error) {
	out, refused := &Metrics{Thresholds: map[string]deploymentv1alpha1.Threshold{}}, []Problem(nil)
	for i, check := range c.Checks {
		p := Problem{Object: "check " + check.Name, Field: fmt.Sprintf("checks[%d]", i)}
		switch {
		case check.Type != typePrometheus:
			p.Message = "is of type " + check.Type + ", and a metric of a Blueprint asks Prometheus: convert it into checks"
			refused = append(refused, p)
		case check.Prometheus.Address != "":
			p.Message = "has an address, and a metric of a Blueprint asks the server of the Site: say --site-server"
			refused = append(refused, p)
		default:
			m := metricOfCheck(check)
			if _, isDuplicate := out.Thresholds[m.Name]; isDuplicate || !metricPattern.MatchString(m.Name) {
				p.Message = "would be metric " + m.Name + ", which an intent cannot name, or which there is already: rename it"
				refused = append(refused, p)
			}
			out.Metrics = append(out.Metrics, m)
			out.Thresholds[m.Name] = check.Threshold
		}
	}
	if len(refused) > 0 {
		return nil, &FieldsError{Problems: refused}
	}
	return out, nil
}

var (
	metricPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	notInMetrics  = regexp.MustCompile(`[^a-z0-9_]`)
)

// metricOfCheck returns the metric of a check. Its name can stand in an intent, which takes lower-case letters, digits and underscores.
func metricOfCheck(check deploymentv1alpha1.Check) catalogv1alpha1.BlueprintMetric {
	direction := catalogv1alpha1.DirectionAtMost
	if strings.HasPrefix(strings.TrimSpace(string(check.Threshold)), ">") {
		direction = catalogv1alpha1.DirectionAtLeast
	}
	return catalogv1alpha1.BlueprintMetric{
		Name: notInMetrics.ReplaceAllString(strings.ToLower(check.Name), "_"), Query: check.Prometheus.Query, Direction: direction,
		MetricRules: deploymentv1alpha1.MetricRules{
			InitialDelay: check.InitialDelay, Interval: check.Interval, Count: check.Count, FailureLimit: check.FailureLimit,
			ConsecutiveErrorLimit: check.ConsecutiveErrorLimit, InconclusiveLimit: check.InconclusiveLimit, NoData: check.NoData, Timeout: check.Timeout,
		},
	}
}
