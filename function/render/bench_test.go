package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/tree"
)

// BenchmarkBuild compares a rendering with what kustomize alone needs for the same files: each beside the other, so that what disturbs
// one disturbs both.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{5, 20, 100} {
		in := filesInput(deployments(n))
		layout, err := Layout(in)
		if err != nil {
			b.Fatal(err)
		}
		r := NewRenderer()
		b.Run(fmt.Sprintf("objects=%d/build", n), func(b *testing.B) {
			for b.Loop() {
				benchBuild(b, r, in)
			}
		})
		b.Run(fmt.Sprintf("objects=%d/both", n), func(b *testing.B) {
			bare, ours := time.Duration(0), time.Duration(0)
			for b.Loop() {
				begin := b.Elapsed()
				benchBare(b, layout)
				middle := b.Elapsed()
				benchBuild(b, r, in)
				bare, ours = bare+middle-begin, ours+b.Elapsed()-middle
			}
			b.ReportMetric(float64(ours)/float64(bare), "build_over_kustomize")
		})
	}
}

func benchBuild(b *testing.B, r *Renderer, in Input) {
	b.Helper()
	if _, err := r.Build(b.Context(), in); err != nil {
		b.Fatal(err)
	}
}

func benchBare(b *testing.B, layout tree.Files) {
	b.Helper()
	objects, err := kustomize(layout)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := objects.AsYaml(); err != nil {
		b.Fatal(err)
	}
}

// deployments returns a Blueprint with n Deployments, whose replicas come from the intent.
func deployments(n int) map[string]string {
	const one = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%d
spec:
  replicas: 1
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      containers:
      - name: app
        image: nginx:1.27
        ports: [{name: http, containerPort: 80}]
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
        readinessProbe: {httpGet: {path: /, port: http}}
`
	all := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&all, one+"---\n", i)
	}
	return map[string]string{
		"deployments.yaml": all.String(),
		"kustomization.yaml": `resources: [intent.yaml, deployments.yaml]
replacements:
- source: {kind: ConfigMap, name: intent, fieldPath: data.replicas}
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]
`,
	}
}
