package application

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// progressSpec returns a spec with a block deploy, and its defaults.
func progressSpec(t *testing.T, deploy string) v1alpha1.ApplicationSpec {
	t.Helper()
	s := v1alpha1.ApplicationSpec{Image: "shop:1"}
	if err := yaml.UnmarshalStrict([]byte(deploy), &s.Deploy); err != nil {
		t.Fatal(err)
	}
	s.Default()
	return s
}

func TestProgressTimeout(t *testing.T) {
	cases := map[string]struct {
		reason, deploy string
		want           []string
	}{
		"Absent": {
			reason: "Without a progressTimeout no check of pods is added.",
			deploy: "{gatesConfig: {checks: [{name: own, type: Web}]}}", want: []string{"own Web 30s+3*30s<5m"},
		},
		"Set": {
			reason: "A progressTimeout adds one check after the checks of the spec, which waits for one pod.",
			deploy: "{progressTimeout: 10m, gatesConfig: {checks: [{name: own, type: Web}]}}",
			want:   []string{"own Web 30s+3*30s<5m", "available Availability 1s+3*5s<10m 1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := progressSpec(t, tc.deploy)
			original := s.DeepCopy()
			var got []string
			for _, c := range DeploymentFor("team-a", "shop", s).Spec.GatesConfig.Checks {
				text := fmt.Sprintf("%s %s %s+%d*%s<%s", c.Name, c.Type, c.InitialDelay, *c.Count, c.Interval, c.Timeout)
				if c.Availability != nil {
					text += fmt.Sprintf(" %d%s", *c.Availability.MinAvailable, c.Availability.Image)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDeploymentFor(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(*original, s); diff != "" {
				t.Errorf("\n%s\nDeploymentFor(...) changed its input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProgressDigest holds the digests of existing specs: the field changes none if it is absent.
func TestProgressDigest(t *testing.T) {
	const application, deployment = "sha256:583817620f0565c95376092906af620e28f568f3e494d6058f2d74330719b148", "sha256:e8553b7f00b545fad73f84991a1ce013044134eeea1dec066119d1343472a892"
	digests := func(deploy string) [2]string {
		s := progressSpec(t, deploy)
		outer, err := digest.Application(&s)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := digest.Spec(&DeploymentFor("team-a", "shop", s).Spec)
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{outer, inner}
	}
	if diff := cmp.Diff([2]string{application, deployment}, digests("{sites: [edge1]}")); diff != "" {
		t.Errorf("\nThe digests of an Application without a progressTimeout stay.\n-want, +got:\n%s", diff)
	}
	if got := digests("{sites: [edge1], progressTimeout: 1m}"); got[0] == application || got[1] == deployment {
		t.Errorf("\nA progressTimeout is part of the request.\ngot %v", got)
	}
}

func TestFindProgressProblem(t *testing.T) {
	crowded := v1alpha1.Deploy{ProgressTimeout: "1m"}
	for i := range maxChecks {
		crowded.GatesConfig.Checks = append(crowded.GatesConfig.Checks, deploymentv1alpha1.Check{Name: fmt.Sprint("c", i), Type: "Web"})
	}
	allowed := *crowded.DeepCopy()
	allowed.ProgressTimeout = ""
	cases := map[string]struct {
		reason string
		deploy v1alpha1.Deploy
		want   string
	}{
		"Absent": {reason: "Without a progressTimeout there may be 16 checks.", deploy: allowed},
		"Fits": {
			reason: "With a progressTimeout there may be 15.",
			deploy: v1alpha1.Deploy{ProgressTimeout: "1m", GatesConfig: deploymentv1alpha1.GatesConfig{Checks: crowded.GatesConfig.Checks[:15]}},
		},
		"TooMany": {
			reason: "A check above the limit is refused with the action to take.", deploy: crowded,
			want: "spec.deploy.progressTimeout: it adds a check to the 16 of spec.deploy.gatesConfig.checks, and at most 16 are possible: leave one of them out",
		},
		"Name": {
			reason: "A check of the same name is refused with its path.",
			deploy: progressSpec(t, "{progressTimeout: 1m, gatesConfig: {checks: [{name: own, type: Web}, {name: available, type: Web}]}}").Deploy,
			want:   `spec.deploy.gatesConfig.checks[1].name: "available" is the name of the check that spec.deploy.progressTimeout adds: use another name`,
		},
		"Metric": {
			reason: "A metric of the same name is refused with its path.",
			deploy: progressSpec(t, "{progressTimeout: 1m, gatesConfig: {sloThresholds: {available: '1'}}}").Deploy,
			want:   "spec.deploy.gatesConfig.sloThresholds.available: it is the name of the check that spec.deploy.progressTimeout adds: leave one of them out",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findSpecProblem(Input{Name: "shop", Spec: v1alpha1.ApplicationSpec{Image: "shop:1", Deploy: tc.deploy}})); diff != "" {
				t.Errorf("\n%s\nfindSpecProblem(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
