package readiness

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	infraGroup = "infrastructure.cluster.x-k8s.io/v1beta1"
	planeGroup = "controlplane.cluster.x-k8s.io/v1beta1"
)

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// thing makes an object. Each line is a path and a value, such as "status.ready=true".
func thing(apiVersion, kind, name string, lines ...string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(name)
	u.SetUID("uid-" + "1")
	return set(u, lines...)
}

func set(u *unstructured.Unstructured, lines ...string) *unstructured.Unstructured {
	for _, line := range lines {
		path, value, _ := strings.Cut(line, "=")
		if err := unstructured.SetNestedField(u.Object, valueOf(value), strings.Split(path, ".")...); err != nil {
			panic(err)
		}
	}
	return u
}

func valueOf(text string) any {
	var n int64
	switch _, err := fmt.Sscanf(text, "%d", &n); {
	case text == "true", text == "false":
		return text == "true"
	case err == nil && fmt.Sprint(n) == text:
		return n
	}
	return text
}

// with adds a condition to an object: "Ready=False/Creating/it takes time".
func with(u *unstructured.Unstructured, field, condition string) *unstructured.Unstructured {
	conditionType, rest, _ := strings.Cut(condition, "=")
	parts := append(strings.SplitN(rest, "/", 3), "", "")
	path := strings.Split(field, ".")
	list, _, _ := unstructured.NestedSlice(u.Object, path...)
	list = append(list, map[string]any{"type": conditionType, "status": parts[0], "reason": parts[1], "message": parts[2]})
	if err := unstructured.SetNestedSlice(u.Object, list, path...); err != nil {
		panic(err)
	}
	return u
}

// good is a cluster that can be delivered to, of a version of Cluster and a contract of its providers.
func good(version, contract Contract) Input {
	in := Input{Now: noon(), Cluster: Found(goodCluster(version), version)}
	in.Infrastructure = Found(thing(infraGroup, "XCluster", "c1"), contract)
	in.ControlPlane = Found(thing(planeGroup, "XControlPlane", "c1"), contract)
	if contract == V1Beta1 {
		set(in.Infrastructure.Unstructured, "status.ready=true")
		set(in.ControlPlane.Unstructured, "status.ready=true", "status.initialized=true", "status.version=v1.34.0")
	}
	if contract == V1Beta2 {
		set(in.Infrastructure.Unstructured, "status.initialization.provisioned=true")
		set(in.ControlPlane.Unstructured, "status.initialization.controlPlaneInitialized=true", "status.version=v1.34.0")
	}
	in.Kubeconfig = Kubeconfig{
		Secret: "c1-kubeconfig", Type: SecretType, Cluster: "c1", Data: []byte("a kubeconfig"), Answer: Answer{Asked: true, Version: "v1.34.2"},
	}
	return in
}

func goodCluster(version Contract) *unstructured.Unstructured {
	c := thing(Group+"/"+string(version), "Cluster", "c1", "spec.controlPlaneEndpoint.host=c1.example.org", "spec.controlPlaneEndpoint.port=6443", "status.phase=Provisioned")
	if version == V1Beta1 {
		return with(set(c, "status.infrastructureReady=true", "status.controlPlaneReady=true"), "status.conditions", "ControlPlaneInitialized=True")
	}
	return set(c, "status.initialization.infrastructureProvisioned=true", "status.initialization.controlPlaneInitialized=true")
}

// capt is such a cluster that CAPT builds.
func capt(version Contract) Input {
	in := good(version, V1Beta1)
	in.Infrastructure.SetKind(kindCAPTCluster)
	in.Infrastructure.Subject.Kind = kindCAPTCluster
	in.ControlPlane.SetKind(kindCAPTControlPlane)
	in.ControlPlane.Subject.Kind = kindCAPTControlPlane
	apply := thing(infraGroup, "WorkspaceTemplateApply", "c1-vpc", "status.applied=true", "status.workspaceName=c1-vpc")
	workspace := with(with(thing("tf.upbound.io/v1beta1", kindWorkspace, "c1-vpc"), "status.conditions", "Synced=True/ReconcileSuccess"), "status.conditions", "Ready=True/Available")
	in.Behind = []Object{Found(apply, ""), Found(workspace, "")}
	return in
}

// conditionLine returns a condition in one line.
func conditionLine(c Condition) string {
	out := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)
	if c.By.Kind != "" {
		out += " by " + c.By.String()
	}
	if c.Message != "" {
		out += ": " + c.Message
	}
	return out
}
