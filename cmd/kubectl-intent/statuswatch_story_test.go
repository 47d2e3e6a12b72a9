package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// updateTranscript is the variable with which the test writes the transcript of the README.
const updateTranscript = "UPDATE_TRANSCRIPT"

// watchedCommand is what a reader types to see the transcript.
const watchedCommand = "$ kubectl intent status shop -n team-a --watch | fold -s -w 80\n"

// transcriptPattern is the block of the README with the transcript.
var transcriptPattern = regexp.MustCompile("(?s)(```console\n" + regexp.QuoteMeta(watchedCommand) + ")(.*?)(```\n)")

// renumbered returns a sample whose present revision has another number. All revisions before it but the last one were verified, and the last one is the target of a rollback.
func renumbered(s *samples.Sample, number int64) *samples.Sample {
	state := &s.Input.State
	past, rejected := state.History[0], state.History[len(state.History)-1]
	isRejected := rejected.Number == state.Current.Number
	state.LastNumber, state.Current.Number, state.History = number, number, nil
	for n := range number - 1 {
		past.Number = n + 1
		state.History = append(state.History, past)
	}
	state.Stable = number - 1
	if isRejected {
		rejected.Number, state.Target = number, number-1
		state.History = append(state.History, rejected)
		s.Input.Target = &state.History[number-2]
	}
	if position := state.Position(); s.Sync != nil {
		s.Sync.Spec.ForProvider.Position, s.Sync.Status.AtProvider.Position = &position, &position
	}
	return s
}

// deliveringRevision returns a revision that the engines of both Sites apply.
func deliveringRevision(number int64) *samples.Sample {
	s := samples.EngineFailed()
	sites := s.Sync.Status.AtProvider.Sites
	for i := range sites {
		sites[i] = deliveryv1alpha1.SiteObservation{
			Name: sites[i].Name, State: deliveryv1alpha1.SiteSyncing, Reason: deliveryv1alpha1.SiteReasonProgressing, Message: "flux-system/fleet: reconciling",
			Engine: &deliveryv1alpha1.EngineObservation{Kind: "Kustomization"},
		}
	}
	s.Sync.Status.AtProvider.SitesLive = 0
	s.Sync.SetConditions(samples.NotReady("Syncing", "Site edge1: Progressing: flux-system/fleet: reconciling"))
	return renumbered(s, number)
}

// verifiedRevision returns a revision that was verified and runs.
func verifiedRevision(number int64) *samples.Sample {
	s := renumbered(samples.New(), number)
	s.Input.State.Verdict, s.Input.State.Stable = &ledger.Verdict{Result: ledger.VerdictVerified}, number
	return s
}

// TestWatchedStory follows the story of a version that is good, one that is rolled back, and one that repairs it, and holds the README to what was printed. Each status is the one that the
// function projects.
func TestWatchedStory(t *testing.T) {
	printed := foldTranscript(t, watchStory(t, []*samples.Sample{
		deliveringRevision(1), verifiedRevision(1), deliveringRevision(2), renumbered(samples.RollingBack(), 2), renumbered(samples.RolledBack(), 2), deliveringRevision(3), verifiedRevision(3),
	}))
	if strings.Contains(printed, "\x1b") {
		t.Errorf("A watch without a terminal has no colours, got:\n%q", printed)
	}
	for line := range strings.Lines(printed) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plainWidth {
			t.Errorf("a line of the transcript has %d columns: %s", n, line)
		}
	}
	const file = "../../README.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := transcriptPattern.FindStringSubmatch(string(b))
	if found == nil {
		t.Fatalf("README.md has no block with %q", watchedCommand)
	}
	if os.Getenv(updateTranscript) != "" {
		if err := os.WriteFile(file, []byte(strings.Replace(string(b), found[0], found[1]+printed+found[3], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(found[2], printed); diff != "" {
		t.Errorf("README.md shows another story, run this test with %s=1: -README, +watch:\n%s", updateTranscript, diff)
	}
}

// watchStory returns what a watch prints while one sample follows another, ten seconds each.
func watchStory(t *testing.T, story []*samples.Sample) string {
	t.Helper()
	out := &drawings{}
	synctest.Test(t, func(t *testing.T) {
		on, changed := &stage{shown: story[0]}, make(chan struct{}, 1)
		began := time.Now()
		now := func() time.Time { return samples.Now().Add(time.Since(began)) }
		ctx, cancel := context.WithCancel(t.Context())
		v := &viewer{streams: &streams{out: out, now: now}, command: &statusCommand{Name: "shop"}, look: on.look}
		ended := make(chan error)
		go func() { ended <- v.followChanges(ctx, changed) }()
		synctest.Wait()
		for _, next := range story[1:] {
			time.Sleep(10 * time.Second)
			on.shown = next
			changed <- struct{}{}
			synctest.Wait()
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

// foldTranscript lets fold break the lines, as the command of the README does, without the spaces at their ends.
func foldTranscript(t *testing.T, text string) string {
	t.Helper()
	fold := exec.CommandContext(t.Context(), "fold", "-s", "-w", "80")
	fold.Stdin = strings.NewReader(text)
	out, err := fold.Output()
	if err != nil {
		t.Fatalf("cannot fold the transcript: %v", err)
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(string(out), "")
}
