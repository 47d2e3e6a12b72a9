package gate

import (
	"context"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
)

// configOfCheck returns the configuration of a check, which is read once for all checks that have the same. It returns an error if the API server
// cannot be asked.
func (e *external) configOfCheck(ctx context.Context, r *reconcileCache, c v1alpha1.GateCheck) (endpoint.Config, error) {
	ref := r.gate.ConfigOf(c)
	if ref == nil {
		return endpoint.Config{Problem: "the Gate names no configuration"}, nil
	}
	if cached, ok := r.configs[*ref]; ok {
		return cached, nil
	}
	out, err := endpoint.ReadConfig(ctx, e.kube, *ref, r.gate.GetNamespace())
	if err == nil {
		r.configs[*ref] = out
	}
	return out, err
}

// deniedCheck returns why a check may not be made at a Site with a configuration, or "".
func deniedCheck(c endpoint.Config, site *catalogv1alpha1.Site, check v1alpha1.GateCheck) string {
	if c.Problem != "" {
		return c.Problem
	}
	k, err := kindOfCheck(check)
	if err == nil {
		err = k.allow(site, c, check)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
