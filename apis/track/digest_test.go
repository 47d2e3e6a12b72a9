package track

import (
	"strings"
	"testing"
)

func TestWorkloadDigest(t *testing.T) {
	hpa := manifest("autoscaling/v2", "HorizontalPodAutoscaler", "web", "spec:\n  maxReplicas: 9\n  minReplicas: 2\n  scaleTargetRef: {kind: Deployment, name: web}\n")
	keda := manifest("keda.sh/v1alpha1", "ScaledObject", "web", "spec:\n  maxReplicaCount: 9\n  minReplicaCount: 2\n  scaleTargetRef: {name: web}\n")
	cases := map[string]struct {
		reason string
		more   map[string]string
		equal  bool
	}{
		"Same": {reason: "An equal workload has an equal digest.", equal: true},
		"Scaled": {
			reason: "Another number of pods needs no canary.",
			more:   map[string]string{"deployment-web.yaml": strings.Replace(webDeployment, "5", "7", 1)}, equal: true,
		},
		"ScalerRange": {
			reason: "Other bounds of an autoscaler need no canary.",
			more:   map[string]string{"hpa.yaml": strings.NewReplacer("Replicas: 9", "Replicas: 20", "Replicas: 2", "Replicas: 4").Replace(hpa)},
			equal:  true,
		},
		"KedaRange": {
			reason: "Other bounds of KEDA need no canary.",
			more:   map[string]string{"keda.yaml": strings.NewReplacer("Count: 9", "Count: 20", "Count: 2", "Count: 4").Replace(keda)}, equal: true,
		},
		"Shared":  {reason: "A shared object has no canary.", more: map[string]string{"a.yaml": manifest("v1", "ConfigMap", "c", "data: {a: b}\n")}, equal: true},
		"Pods":    {reason: "Other pods need a canary.", more: map[string]string{"deployment-web.yaml": webDeployment + "    spec: {hostNetwork: true}\n"}},
		"Service": {reason: "Another Service in the tracks needs a canary.", more: map[string]string{"service-web.yaml": webService + "  ports: [{port: 80}]\n"}},
		"Target": {
			reason: "An object more in the tracks needs a canary.",
			more: map[string]string{
				"pdb.yaml": manifest("policy/v1", "PodDisruptionBudget", "web", "spec: {selector: {matchLabels: {app: web}}}\n"),
			},
		},
	}
	digestOf := func(added map[string]string) string {
		files := web(map[string]string{"hpa.yaml": hpa, "keda.yaml": keda})
		for name, text := range added {
			files[name] = []byte(text)
		}
		p, err := Split(files, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.WorkloadDigest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := digestOf(nil) == digestOf(tc.more); got != tc.equal {
				t.Errorf("\n%s\nequal: want %t, got %t", tc.reason, tc.equal, got)
			}
		})
	}
}
