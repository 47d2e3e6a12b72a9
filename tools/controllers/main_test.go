package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArguments(t *testing.T) {
	type want struct {
		settings settings
		err      bool
	}
	all := []string{
		"clusterrole-aggregation-controller", "deployment-controller", "garbage-collector-controller", "job-controller", "namespace-controller",
		"replicaset-controller", "serviceaccount-controller",
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Demo": {
			reason: "The arguments that the demo gives kube-controller-manager are understood.",
			args: []string{
				"--kubeconfig=k", "--controllers=garbage-collector-controller,namespace-controller", "--leader-elect=false", "--secure-port=0",
				"--kube-api-qps=200", "--kube-api-burst=400",
			},
			want: want{settings: settings{kubeconfig: "k", controllers: []string{"garbage-collector-controller", "namespace-controller"}, qps: 200, burst: 400}},
		},
		"Defaults": {
			reason: "Without a list all controllers run, at the rates of kube-controller-manager.",
			want:   want{settings: settings{controllers: all, qps: 20, burst: 30}},
		},
		"OtherController": {
			reason: "A controller that is only in kube-controller-manager is an error, so that a control plane does not go without it unnoticed.",
			args:   []string{"--controllers=cronjob-controller"},
			want:   want{err: true},
		},
		"EmptyList": {
			reason: "An empty list is an error, because a program without controllers does nothing.",
			args:   []string{"--controllers="},
			want:   want{err: true},
		},
		"Elects": {
			reason: "A leader election that was asked for is an error, because the program does not hold one.",
			args:   []string{"--leader-elect"},
			want:   want{err: true},
		},
		"Serves": {
			reason: "A port that was asked for is an error, because the program does not serve it.",
			args:   []string{"--secure-port=10257"},
			want:   want{err: true},
		},
		"OtherArgument": {
			reason: "An argument that the program does not have is an error.",
			args:   []string{"--cluster-cidr=10.0.0.0/8"},
			want:   want{err: true},
		},
		"Word": {
			reason: "A word that is not an argument is an error.",
			args:   []string{"run"},
			want:   want{err: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseArguments(tc.args)
			if (err != nil) != tc.want.err {
				t.Fatalf("\n%s\nparseArguments(%q): %v", tc.reason, tc.args, err)
			}
			if tc.want.err {
				return
			}
			if diff := cmp.Diff(tc.want.settings, got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("\n%s\nparseArguments(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}
