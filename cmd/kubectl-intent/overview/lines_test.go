package overview

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

var update = flag.Bool("update", false, "write the shown lines into testdata")

func style() Style { return Style{Now: samples.Now(), Width: 80} }

// shownSamples are the deployments in testdata, by the name of their file.
func shownSamples() map[string]*samples.Sample {
	claim := samples.Verified()
	claim.Group = "claims.intentplane.dev"
	return map[string]*samples.Sample{
		"verified": claim, "wrong-password": samples.WrongPassword(), "engine-failed": samples.EngineFailed(), "rolling-back": samples.RollingBack(),
		"rolled-back": samples.RolledBack(), "canary-paused": samples.Canary(false), "canary-manual": samples.Canary(true),
	}
}

func overviewOf(s *samples.Sample) Overview {
	f := s.Facts()
	return ForDeployment(f, cause.FindForDeployment(f, samples.Now()))
}

// TestLines shows each sample as testdata has it: its status, and why it does not go on.
func TestLines(t *testing.T) {
	for name, s := range shownSamples() {
		t.Run(name, func(t *testing.T) {
			o := overviewOf(s)
			got := strings.Join(slices.Concat([]string{"$ kubectl intent status shop"}, Lines(o, style()), []string{"$ kubectl intent why shop"}, WhyLines(o, style())), "\n") + "\n"
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", file, diff)
			}
			for line := range strings.Lines(got) {
				if n := len([]rune(strings.TrimSpace(line))); n > 80 {
					t.Errorf("%s: a line has %d characters, want at most 80: %s", file, n, line)
				}
			}
		})
	}
}

// TestWide shows all Sites and revisions, and cuts no line. Without it, Sites that are live make room for others.
func TestWide(t *testing.T) {
	f := samples.Verified().Facts()
	sites := f.Deployment.Status.Delivery.Sites
	for i := range 30 {
		sites[fmt.Sprintf("far%02d", i)] = deploymentv1alpha1.SiteStatus{State: deploymentv1alpha1.SiteLive, Commit: "8d21c0e"}
	}
	sites["far07"] = deploymentv1alpha1.SiteStatus{State: deploymentv1alpha1.SiteSyncing, Message: strings.Repeat("long ", 40)}
	o := ForDeployment(f, cause.FindForDeployment(f, samples.Now()))
	count := func(lines []string, part string) int {
		n := 0
		for _, line := range lines {
			n += strings.Count(line, part)
		}
		return n
	}
	narrow := Lines(o, style())
	if n := count(narrow, "─ site"); n != shownSites {
		t.Errorf("%d Sites are shown, want %d", n, shownSites)
	}
	if count(narrow, "site far07") != 1 || count(narrow, "and 20 more sites: -o wide shows all") != 1 {
		t.Errorf("a Site that is not live has no room, or the others are not counted:\n%s", strings.Join(narrow, "\n"))
	}
	s := style()
	s.IsWide = true
	if wide := Lines(o, s); count(wide, "─ site") != 32 || count(wide, "long") != 40 {
		t.Errorf("wide leaves lines out:\n%s", strings.Join(wide, "\n"))
	}
}

func TestElapsed(t *testing.T) {
	cases := map[string]struct {
		reason string
		of     time.Duration
		want   string
	}{
		"Seconds": {reason: "Less than an hour is shown in minutes and seconds.", of: 41 * time.Second, want: "0m41s"},
		"Hours":   {reason: "Less than a day is shown in hours and minutes.", of: 3*time.Hour + 5*time.Minute + time.Second, want: "3h05m"},
		"Days":    {reason: "A day or more is shown in days and hours.", of: 50 * time.Hour, want: "2d02h"},
		"Ahead":   {reason: "A time that is ahead of the clock of the user is now.", of: -time.Minute, want: "0m00s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Elapsed(tc.of)); diff != "" {
				t.Errorf("\n%s\nElapsed(%s): -want, +got:\n%s", tc.reason, tc.of, diff)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		width  int
		want   []string
	}{
		"Fits":     {reason: "A text that fits is one line.", text: "a b", width: 10, want: []string{"a b"}},
		"Breaks":   {reason: "A text breaks between words.", text: "one two three", width: 8, want: []string{"one two", "three"}},
		"LongWord": {reason: "A word that is longer than a line is cut.", text: "abcdefghijkl", width: 8, want: []string{"abcde..."}},
		"NoWidth":  {reason: "Without a width a text is one line.", text: "one  two\nthree", want: []string{"one two three"}},
		"Empty":    {reason: "A text without words has no line.", text: " ", width: 8},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Style{Width: tc.width}.wrapText(tc.text)); diff != "" {
				t.Errorf("\n%s\nwrap(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
