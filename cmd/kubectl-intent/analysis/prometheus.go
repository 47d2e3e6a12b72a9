package analysis

import (
	"maps"
	"slices"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
)

// Types of checks.
const (
	typePrometheus = "Prometheus"
	typeWeb        = "Web"
	typeJob        = "Job"
)

// argoPrometheus is a query of Argo Rollouts.
type argoPrometheus struct {
	Address string `json:"address"`
	Query   string `json:"query"`

	// Timeout of a query, in seconds.
	Timeout *int64 `json:"timeout"`

	// The following fields belong to the address.
	Authentication any   `json:"authentication"`
	Headers        any   `json:"headers"`
	Insecure       *bool `json:"insecure"`
}

// defaultArgoAnswerSeconds is how long Argo Rollouts waits for an answer (metricproviders/prometheus).
const defaultArgoAnswerSeconds = 30

// waitSeconds returns how long Argo Rollouts waits for an answer.
func (p *argoPrometheus) waitSeconds() int64 {
	if p.Timeout == nil {
		return defaultArgoAnswerSeconds
	}
	return *p.Timeout
}

func (c *converter) convertPrometheus(path string, m argoMetric, check deploymentv1alpha1.Check, values map[string]string) {
	p, providerField := m.Provider.Prometheus, path+".provider.prometheus"
	check.Type = typePrometheus
	check.Prometheus = &deploymentv1alpha1.PrometheusCheck{
		Query:   c.validateQuery(providerField+".query", c.fillPlaceholders(providerField+".query", p.Query, values)),
		Address: c.serverAddress(providerField+".address", c.fillPlaceholders(providerField+".address", p.Address, values)),
	}
	c.refuseServerFields(map[string]bool{
		providerField + ".authentication": p.Authentication != nil, providerField + ".headers": p.Headers != nil, providerField + ".insecure": p.Insecure != nil && *p.Insecure,
	})
	if seconds := p.waitSeconds(); seconds < 1 {
		c.refuseFieldf(providerField+".timeout", "%d seconds are too short for any answer", seconds)
	}
	if m.SuccessCondition == "" && m.FailureCondition == "" {
		c.refuseFieldf(path+".successCondition", "is absent, so that each answer would pass")
		return
	}
	conditions, field, err := condition.Read(m.SuccessCondition, m.FailureCondition)
	if err != nil {
		c.refuseInvalidText(path+"."+field, err)
		return
	}
	check.NoData = conditions.NoData
	conditions.Bounds = c.failableBounds(path+"."+field, check, conditions.Bounds)
	c.noteQueryVerdicts(path, conditions, check, p.waitSeconds())
	c.addBoundChecks(check, conditions.Bounds)
}

// validateQuery returns a query that a check can ask. A query without the value of a placeholder is refused once.
func (c *converter) validateQuery(field, text string) string {
	text = strings.TrimSpace(text)
	t, err := promql.Parse(text)
	if err == nil {
		err = t.CheckNoTracks()
	}
	if err != nil {
		c.refuseInvalidText(field, err)
	}
	return text
}

// serverAddress returns the address that a check asks, or an empty text for the server of the Site.
func (c *converter) serverAddress(field, address string) string {
	if address == "" || c.UsesSiteServer {
		return ""
	}
	c.refuseOwnPlaceholder(field, address)
	if !strings.HasPrefix(address, "https://") {
		c.refuseFieldf(field, "the address of a check's own server has to be https: say --site-server to ask the server of the Site")
	}
	return address
}

// refuseServerFields refuses fields about requests to a server, unless the server of the Site is used, which has its own credentials.
func (c *converter) refuseServerFields(set map[string]bool) {
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if set[field] && !c.UsesSiteServer {
			c.refuseFieldf(field, "a Site or a configuration says how its server is asked: say --site-server to ask that one")
		}
	}
}
