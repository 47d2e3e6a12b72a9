package render

import (
	"regexp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/render/guard"
)

const (
	// bindingRoot is the folder of a container that has the Secrets of its bindings.
	bindingRoot = "/bindings"

	// bindingVariable names that folder, as the Service Binding specification says.
	bindingVariable = "SERVICE_BINDING_ROOT"
)

// A fields is an object of JSON.
type fields = map[string]any

// applyRuntime writes the intent's settings of containers and pods to all marked workloads. It returns an error if none is marked: then it would have
// no effect.
func applyRuntime(objects resmap.ResMap, r *deploymentv1alpha1.Runtime) error {
	if r == nil {
		return nil
	}
	applied := false
	for _, o := range objects.Resources() {
		path, marked := markedPodPath(o)
		if !marked {
			continue
		}
		if err := applyToWorkload(objects, o, path, r); err != nil {
			return errors.Wrapf(err, "%s: cannot apply runtime", describeObject(o))
		}
		applied = true
	}
	if !applied {
		return errors.Errorf("no workload has label %s: %s, so that runtime would have no effect", LabelWorkload, WorkloadMain)
	}
	return nil
}

// markedPodPath returns where a marked workload has the spec of its pods.
func markedPodPath(o *resource.Resource) ([]string, bool) {
	if o.GetLabels()[LabelWorkload] != WorkloadMain {
		return nil, false
	}
	for _, p := range podSpecPaths() {
		if matchesWhole(p.group, o.GetGvk().Group) && matchesWhole(p.kinds, o.GetKind()) {
			return p.path, true
		}
	}
	return nil, false
}

func matchesWhole(pattern, text string) bool {
	return regexp.MustCompile("^(" + pattern + ")$").MatchString(text)
}

func applyToWorkload(objects resmap.ResMap, o *resource.Resource, path []string, r *deploymentv1alpha1.Runtime) error {
	all, err := o.Map()
	if err != nil {
		return err
	}
	pod := all
	for _, name := range path {
		pod = ensureFieldsAt(pod, name)
	}
	containers, _ := pod["containers"].([]any)
	if len(containers) == 0 {
		return errors.New("it has no container")
	}
	first, ok := containers[0].(fields)
	if !ok {
		return errors.New("its first container is not an object")
	}
	applyToContainer(first, r)
	applyRuntimeToPod(pod, r)
	if r.Autoscaling != nil && matchesWhole(guard.KindsWithReplicas, o.GetKind()) {
		delete(ensureFieldsAt(all, "spec"), "replicas")
		if err := appendObject(objects, autoscalerFor(o, r.Autoscaling)); err != nil {
			return err
		}
	}
	n, err := yaml.FromMap(all)
	if err != nil {
		return err
	}
	o.SetYNode(n.YNode())
	return nil
}

// ensureFieldsAt returns the object in a field, which is made if there is none.
func ensureFieldsAt(in fields, name string) fields {
	out, ok := in[name].(fields)
	if !ok {
		out = fields{}
		in[name] = out
	}
	return out
}

func applyToContainer(c fields, r *deploymentv1alpha1.Runtime) {
	env, mounts := []fields{}, []fields{}
	if len(r.Bindings) > 0 {
		env = append(env, fields{"name": bindingVariable, "value": bindingRoot})
	}
	for _, e := range r.Env {
		env = append(env, encodeEnvVar(e))
	}
	for _, b := range r.Bindings {
		mounts = append(mounts, fields{"name": bindingVolumeName(b), "mountPath": bindingRoot + "/" + b.Name, "readOnly": true})
	}
	mergeByName(c, "env", env)
	mergeByName(c, "volumeMounts", mounts)
	if h := r.Health; h != nil {
		c["readinessProbe"] = readinessProbeOf(*h)
	}
}

func encodeEnvVar(e deploymentv1alpha1.EnvVar) fields {
	s := e.ValueFrom
	switch {
	case s != nil && s.SecretKeyRef != nil:
		return fields{"name": string(e.Name), "valueFrom": fields{"secretKeyRef": keyReferenceOf(*s.SecretKeyRef)}}
	case s != nil && s.ConfigMapKeyRef != nil:
		return fields{"name": string(e.Name), "valueFrom": fields{"configMapKeyRef": keyReferenceOf(*s.ConfigMapKeyRef)}}
	}
	return fields{"name": string(e.Name), "value": e.Value}
}

func keyReferenceOf(r deploymentv1alpha1.KeyReference) fields {
	return fields{"name": string(r.Name), "key": string(r.Key)}
}

func bindingVolumeName(b deploymentv1alpha1.Binding) string { return "binding-" + b.Name }

func readinessProbeOf(h deploymentv1alpha1.HealthCheck) fields {
	if h.Path == "" {
		return fields{"tcpSocket": fields{"port": int(h.Port)}}
	}
	return fields{"httpGet": fields{"path": h.Path, "port": int(h.Port)}}
}

func applyRuntimeToPod(pod fields, r *deploymentv1alpha1.Runtime) {
	volumes, secrets := []fields{}, []fields{}
	for _, b := range r.Bindings {
		volumes = append(volumes, fields{"name": bindingVolumeName(b), "secret": fields{"secretName": string(b.SecretRef.Name)}})
	}
	for _, s := range r.ImagePullSecrets {
		secrets = append(secrets, fields{"name": string(s.Name)})
	}
	mergeByName(pod, "volumes", volumes)
	mergeByName(pod, "imagePullSecrets", secrets)
}

// mergeByName puts items into a list: one takes the place of that of its name, and the others follow in their order.
func mergeByName(in fields, name string, items []fields) {
	if len(items) == 0 {
		return
	}
	list, _ := in[name].([]any)
	list = slices.Clone(list)
	for _, item := range items {
		i := slices.IndexFunc(list, func(v any) bool {
			existing, ok := v.(fields)
			return ok && existing["name"] == item["name"]
		})
		if i < 0 {
			list = append(list, item)
			continue
		}
		list[i] = item
	}
	in[name] = list
}

// autoscalerFor returns the autoscaler of a workload, with its name.
func autoscalerFor(o *resource.Resource, a *deploymentv1alpha1.Autoscaling) fields {
	labels := fields{}
	for key, value := range o.GetLabels() {
		labels[key] = value
	}
	delete(labels, LabelWorkload)
	metadata := fields{"name": o.GetName(), "labels": labels}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	return fields{
		"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata,
		"spec": fields{
			"minReplicas": int(a.Min), "maxReplicas": int(a.Max),
			"scaleTargetRef": fields{"apiVersion": o.GetApiVersion(), "kind": o.GetKind(), "name": o.GetName()},
			"metrics": []any{fields{"type": "Resource", "resource": fields{
				"name": "cpu", "target": fields{"type": "Utilization", "averageUtilization": int(a.CPUPercent)},
			}}},
		},
	}
}

func appendObject(objects resmap.ResMap, o fields) error {
	n, err := yaml.FromMap(o)
	if err != nil {
		return err
	}
	return objects.Append(&resource.Resource{RNode: *n})
}
