package render

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// builderFn is a Builder.
type builderFn func(ctx context.Context, in Input) (tree.Files, error)

func (fn builderFn) Build(ctx context.Context, in Input) (tree.Files, error) { return fn(ctx, in) }

// counting returns a Builder that writes n bytes, and how often it was asked.
func counting(n int, err error) (Builder, *int) {
	calls := 0
	return builderFn(func(_ context.Context, in Input) (tree.Files, error) {
		calls++
		return tree.Files{"a.yaml": []byte(strings.Repeat(in.Site.Name, n))}, err
	}), &calls
}

func TestCacheKey(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   int
	}{
		"Same":   {reason: "The same input is built once.", change: func(*Input) {}, want: 1},
		"Labels": {reason: "A Blueprint's labels change nothing.", change: func(in *Input) { in.Blueprint.SetLabels(map[string]string{"a": "b"}) }, want: 1},
		"File":   {reason: "A rendering depends on the files of the Blueprint.", change: func(in *Input) { in.Blueprint.Spec.Files["a.yaml"] = "b" }, want: 2},
		"FileName": {
			reason: "A rendering depends on the names of the Blueprint's files.",
			change: func(in *Input) { in.Blueprint.Spec.Files["b.yaml"] = "" }, want: 2,
		},
		"Schema": {
			reason: "A rendering depends on the schema of parameters.",
			change: func(in *Input) { in.Blueprint.Spec.ParametersSchema = &runtime.RawExtension{Raw: []byte("{}")} }, want: 2,
		},
		"Name": {
			reason: "A rendering depends on the name of the Blueprint, which errors contain.",
			change: func(in *Input) { in.Blueprint.SetName("other") }, want: 2,
		},
		"Service": {reason: "A rendering depends on the service of the intent.", change: func(in *Input) { in.Intent.Service = "other" }, want: 2},
		"Replicas": {
			reason: "A rendering depends on the replicas of the intent.",
			change: func(in *Input) { in.Intent.SiteReplicas = map[string]int32{"edge1": 2} }, want: 2,
		},
		"Parameters": {
			reason: "A rendering depends on the parameters of the intent.",
			change: func(in *Input) { in.Intent.Parameters = map[string]string{"a": "b"} }, want: 2,
		},
		"Site": {reason: "A rendering depends on the name of the Site.", change: func(in *Input) { in.Site.Name = "edge2" }, want: 2},
		"SiteValue": {
			reason: "A rendering depends on the parameters of the Site.",
			change: func(in *Input) { in.Site.Parameters = map[string]string{"a": "b"} }, want: 2,
		},
		"Layout": {
			reason: "A rendering depends on the layout of the Site.",
			change: func(in *Input) { in.Site.Layout = catalogv1alpha1.LayoutManifests }, want: 2,
		},
		"Claim": {reason: "A rendering depends on the name of the claim.", change: func(in *Input) { in.Claim.Name = "other" }, want: 2},
		"Track": {reason: "A rendering depends on the track.", change: func(in *Input) { in.Track = "blue" }, want: 2},
		"Canary": {
			reason: "A rendering depends on the canary of the Blueprint.",
			change: func(in *Input) { in.Blueprint.Spec.Canary = &catalogv1alpha1.BlueprintCanary{} }, want: 2,
		},
		"Namespace": {reason: "A rendering depends on the namespace of the claim.", change: func(in *Input) { in.Claim.Namespace = "other" }, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, calls := counting(1, nil)
			c := NewCache(b, 1<<20)
			in := filesInput(map[string]string{"a.yaml": "a"})
			_, _ = c.Build(t.Context(), in)
			tc.change(&in)
			_, _ = c.Build(t.Context(), in)
			if *calls != tc.want {
				t.Errorf("\n%s\nBuild(...): want %d builds, got %d", tc.reason, tc.want, *calls)
			}
		})
	}
}

func TestCacheErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   int
	}{
		"Refused": {reason: "A refused input is refused always.", err: errors.New("boom"), want: 1},
		"TooLate": {reason: "A rendering that exceeded its timeout may be faster another time.", err: &TimeoutError{message: "late"}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, calls := counting(1, tc.err)
			c := NewCache(b, 1<<20)
			for range 2 {
				if _, err := c.Build(t.Context(), filesInput(nil)); !errors.Is(err, tc.err) {
					t.Errorf("\n%s\nBuild(...): want %v, got %v", tc.reason, tc.err, err)
				}
			}
			if *calls != tc.want {
				t.Errorf("\n%s\nBuild(...): want %d builds, got %d", tc.reason, tc.want, *calls)
			}
		})
	}
}

func TestCacheFiles(t *testing.T) {
	b, calls := counting(1, nil)
	c := NewCache(b, 1<<20)
	for range 2 {
		files, err := c.Build(t.Context(), filesInput(nil))
		if err != nil || string(files["a.yaml"]) != "edge1" {
			t.Fatalf("Build(...): got %s, %v", files["a.yaml"], err)
		}
		// A caller may change its own files.
		delete(files, "a.yaml")
	}
	if *calls != 1 {
		t.Errorf("Build(...): want 1 build, got %d", *calls)
	}
}

func TestCacheInParallel(t *testing.T) {
	c := NewCache(builderFn(func(_ context.Context, in Input) (tree.Files, error) {
		return tree.Files{"a.yaml": []byte(in.Site.Name)}, nil
	}), 4*530)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			in := filesInput(nil)
			in.Site.Name = fmt.Sprintf("s%d", i%9)
			files, err := c.Build(t.Context(), in)
			if diff := cmp.Diff(in.Site.Name, string(files["a.yaml"])); err != nil || diff != "" {
				t.Errorf("Build(...): %v, -want, +got:\n%s", err, diff)
			}
			delete(files, "a.yaml")
		})
	}
	wg.Wait()
}
