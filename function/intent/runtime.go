package intent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent/document"
)

// Bounds of the settings of containers and pods. The schema of an expectation has the same bounds.
const (
	maxEnv         = 128
	maxEnvName     = 128
	maxBindings    = 8
	maxPullSecrets = 8
	maxPath        = 200
	maxPercent     = 1000
)

// Keys of the settings that marked workloads follow. No ConfigMap has them.
const (
	// KeyRuntime is the key of the settings of a marked workload.
	KeyRuntime = "runtime"

	// KeyAutoscaling is the key of the settings of a marked workload with replicas.
	KeyAutoscaling = "runtime-autoscaling"
)

var (
	envName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	objectName  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	dataKey     = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	bindingName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)
	plainPath   = regexp.MustCompile(`^/[-A-Za-z0-9/._~]*$`)
)

// readRuntime reads the settings of containers and pods. It has the fields of an expectation's.
func (r *serviceReader) readRuntime(n document.Node) *document.Problem {
	r.Runtime = &deploymentv1alpha1.Runtime{}
	unknownFields, err := kjson.UnmarshalStrict(n.JSON(), r.Runtime)
	if mistyped := (*json.UnmarshalTypeError)(nil); errors.As(err, &mistyped) && mistyped.Field != "" {
		return document.Problemf(n.Path+"."+mistyped.Field, "does not take a value of type %s", mistyped.Value)
	}
	if err := errors.Join(append(unknownFields, err)...); err != nil {
		return document.Problemf(n.Path, "has a field that an expectation's has not, or a wrong value: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// checkRuntime checks the settings of containers and pods, and applies their defaults.
func (d *draft) checkRuntime() *document.Problem {
	r := d.Runtime
	if r == nil || isEmptyRuntime(*r) {
		d.Runtime = nil
		return nil
	}
	r.Autoscaling.Default()
	r.Bindings, r.Env, r.ImagePullSecrets = nilIfEmptyList(r.Bindings), nilIfEmptyList(r.Env), nilIfEmptyList(r.ImagePullSecrets)
	for _, check := range []func(*deploymentv1alpha1.Runtime) *document.Problem{d.checkEnvVars, d.checkBindings, d.checkPullSecrets, d.checkHealth, d.checkAutoscaling} {
		if prob := check(r); prob != nil {
			return prob
		}
	}
	return nil
}

// isEmptyRuntime reports whether nothing is set, so that it means the same as none.
func isEmptyRuntime(r deploymentv1alpha1.Runtime) bool {
	return r.Autoscaling == nil && r.Health == nil && len(r.Bindings)+len(r.Env)+len(r.ImagePullSecrets) == 0
}

func nilIfEmptyList[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return all
}

func (d *draft) checkEnvVars(r *deploymentv1alpha1.Runtime) *document.Problem {
	if len(r.Env) > maxEnv {
		return d.problemAtPath("runtime.env", "must not be more than %d", maxEnv)
	}
	names := map[deploymentv1alpha1.EnvName]bool{}
	for i, e := range r.Env {
		path := document.Item("runtime.env", i)
		switch {
		case len(e.Name) > maxEnvName || !envName.MatchString(string(e.Name)):
			return d.problemAtPath(path+".name", "must be the name of an environment variable: at most %d letters, digits and '_', and no digit first", maxEnvName)
		case names[e.Name]:
			return d.problemAtPath(path+".name", "names %s a second time", e.Name)
		case e.Value != "" && e.ValueFrom != nil:
			return d.problemAtPath(path, "has value and valueFrom: set one of them")
		case len(e.Value) > maxValue || !utf8.ValidString(e.Value) || strings.IndexFunc(e.Value, isForbiddenInValue) >= 0:
			return d.problemAtPath(path+".value", "must be at most %d bytes of text without control characters", maxValue)
		}
		if prob := d.checkEnvSource(path+".valueFrom", e.ValueFrom); prob != nil {
			return prob
		}
		names[e.Name] = true
	}
	return nil
}

func (d *draft) checkEnvSource(path string, s *deploymentv1alpha1.EnvSource) *document.Problem {
	if s == nil {
		return nil
	}
	ref := s.SecretKeyRef
	if ref == nil {
		ref = s.ConfigMapKeyRef
	}
	if ref == nil || s.SecretKeyRef != nil && s.ConfigMapKeyRef != nil {
		return d.problemAtPath(path, "must have one of configMapKeyRef and secretKeyRef")
	}
	if !objectName.MatchString(string(ref.Name)) || !dataKey.MatchString(string(ref.Key)) {
		return d.problemAtPath(path, "must have the name of an object in the same namespace, and a key of it")
	}
	return nil
}

func (d *draft) checkBindings(r *deploymentv1alpha1.Runtime) *document.Problem {
	if len(r.Bindings) > maxBindings {
		return d.problemAtPath("runtime.bindings", "must not be more than %d", maxBindings)
	}
	names := map[string]bool{}
	for i, b := range r.Bindings {
		path := document.Item("runtime.bindings", i)
		switch {
		case !bindingName.MatchString(b.Name):
			return d.problemAtPath(path+".name", "must consist of at most 40 lower-case letters, digits and '-'")
		case names[b.Name]:
			return d.problemAtPath(path+".name", "names %s a second time", b.Name)
		case !objectName.MatchString(string(b.SecretRef.Name)):
			return d.problemAtPath(path+".secretRef.name", "must be the name of a Secret in the same namespace")
		}
		names[b.Name] = true
	}
	return nil
}

func (d *draft) checkPullSecrets(r *deploymentv1alpha1.Runtime) *document.Problem {
	if len(r.ImagePullSecrets) > maxPullSecrets {
		return d.problemAtPath("runtime.imagePullSecrets", "must not be more than %d", maxPullSecrets)
	}
	names := map[deploymentv1alpha1.ObjectName]bool{}
	for i, s := range r.ImagePullSecrets {
		path := document.Item("runtime.imagePullSecrets", i) + ".name"
		switch {
		case !objectName.MatchString(string(s.Name)):
			return d.problemAtPath(path, "must be the name of a Secret in the same namespace")
		case names[s.Name]:
			return d.problemAtPath(path, "names %s a second time", s.Name)
		}
		names[s.Name] = true
	}
	return nil
}

func (d *draft) checkHealth(r *deploymentv1alpha1.Runtime) *document.Problem {
	h := r.Health
	switch {
	case h == nil:
		return nil
	case h.Port < 1 || h.Port > 65535:
		return d.problemAtPath("runtime.health.port", "must be from 1 to 65535")
	case h.Path != "" && (len(h.Path) > maxPath || !plainPath.MatchString(h.Path)):
		return d.problemAtPath("runtime.health.path", "must be a path of at most %d letters, digits, '/', '-', '.', '_' and '~' that begins with '/'", maxPath)
	}
	return nil
}

func (d *draft) checkAutoscaling(r *deploymentv1alpha1.Runtime) *document.Problem {
	a := r.Autoscaling
	switch {
	case a == nil:
		return nil
	case a.Min < 1 || a.Max > maxReplicas || a.Min > a.Max:
		return d.problemAtPath("runtime.autoscaling", "min and max must be from 1 to %d, and min not greater than max", maxReplicas)
	case a.CPUPercent < 1 || a.CPUPercent > maxPercent:
		return d.problemAtPath("runtime.autoscaling.cpuPercent", "must be from 1 to %d", maxPercent)
	case len(d.SiteReplicas) > 0:
		return d.problemAtPath("runtime.autoscaling", "excludes replicas by Site: leave one of them out")
	}
	return nil
}

// runtimeSettings returns the settings of containers and pods.
func (i Intent) runtimeSettings() []Setting {
	r := i.Runtime
	if r == nil {
		return nil
	}
	out := []Setting{}
	for field, set := range map[string]bool{"env": len(r.Env) > 0, "bindings": len(r.Bindings) > 0, "imagePullSecrets": len(r.ImagePullSecrets) > 0, "health": r.Health != nil} {
		if set {
			out = append(out, Setting{Field: fmt.Sprintf("runtime.%s", field), Key: KeyRuntime})
		}
	}
	if r.Autoscaling != nil {
		out = append(out, Setting{Field: "runtime.autoscaling", Key: KeyAutoscaling})
	}
	return out
}
