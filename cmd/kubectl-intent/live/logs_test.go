package live

import (
	"strings"
	"testing"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/test/cli"
)

func TestLogs(t *testing.T) {
	running := buildv1alpha1.ImageBuildObservation{Running: &buildv1alpha1.RunningBuild{Build: "api-build-2", Step: "detect"}}
	failed := buildv1alpha1.ImageBuildObservation{Failed: &buildv1alpha1.FailedBuild{Build: "api-build-2", Step: "export"}}
	built := buildv1alpha1.ImageBuildObservation{Latest: &buildv1alpha1.BuiltImage{Build: "api-build-2"}}
	cases := map[string]struct {
		reason string
		at     buildv1alpha1.ImageBuildObservation
		source string
		args   []string
		want   string
		code   int
	}{
		"Running": {reason: "The step that runs is shown.", at: running, args: []string{"--build"}, want: "log of detect follow \n"},
		"Failed":  {reason: "The step that failed is shown.", at: failed, args: []string{"--build"}, want: "log of export follow \n"},
		"Built":   {reason: "Step build of the last image is shown.", at: built, args: []string{"--build", "--follow"}, want: "log of build follow true\n"},
		"Step":    {reason: "Another step is shown that the user names.", at: built, args: []string{"--build", "--step=analyze"}, want: "log of analyze follow \n"},
		"None":    {reason: "An Application without a Build has no log.", args: []string{"--build"}, want: "nothing was built yet", code: 1},
		"Image": {
			reason: "An Application with an image has no build.",
			source: `{"image": "a:1"}`, args: []string{"--build"}, want: "is built of a source", code: 1,
		},
		"NotBuild": {reason: "The command does not read logs of running pods.", at: built, want: "--build", code: 2},
		"Unbuilt":  {reason: "Flags for a Build are not ignored without one.", at: built, args: []string{"latency", "--follow"}, want: "are for --build", code: 2},
		"Both":     {reason: "A build has no checks.", at: built, args: []string{"latency", "--build"}, want: "a build has no check", code: 2},
		"Gone": {
			reason: "A Build that is gone has no log.",
			at:     buildv1alpha1.ImageBuildObservation{Latest: &buildv1alpha1.BuiltImage{Build: "api-build-1"}}, args: []string{"--build"},
			want: "cannot get builds.kpack.io/api-build-1", code: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.source == "" {
				tc.source = cli.GitSource
			}
			cli.ServeBuilt(t, tc.at, tc.source)
			out, problems, code := runIntent("", append([]string{"logs", "api"}, tc.args...)...)
			if code != tc.code || !strings.Contains(out+problems, tc.want) {
				t.Errorf("\n%s\nlogs: exit code %d: %s%s", tc.reason, code, out, problems)
			}
		})
	}
}
