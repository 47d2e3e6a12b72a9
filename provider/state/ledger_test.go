package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

var claimOfLedger = rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}

// sitesOf returns the names of so many Sites, which are as long as names of Sites often are.
func sitesOf(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("store-%04d-frankfurt", i)
	}
	return out
}

// revisionOf returns the events of a revision that is verified at Sites.
func revisionOf(number int64, sites []string) []ledger.Event {
	r := ledger.Revision{
		Number: number, Request: ledger.Request{Intent: digestOf('a'), Sources: digestOf('b'), Scheme: 1, Renderer: 1},
		Plan: []ledger.Step{{Sites: sites}}, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "platform", Sites: sites}},
	}
	j := &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}}
	for _, site := range sites {
		j.Trees = append(j.Trees, ledger.SiteTree{Site: site, ID: strings.Repeat("f", 40)})
	}
	return []ledger.Event{{Ordered: &ledger.Ordered{Revision: r}}, {Judged: j}}
}

func digestOf(letter rune) string { return "sha256:" + strings.Repeat(string(letter), 64) }

// appendTo appends events to a file.
func appendTo(tb testing.TB, f LedgerFile, events ...ledger.Event) LedgerFile {
	tb.Helper()
	next, err := ledger.Append(f.State, time.Unix(1_800_000_000, 0), events...)
	if err != nil {
		tb.Fatal(err)
	}
	return f.Append(next, events)
}

// newLedger returns a file with revisions that were verified at so many Sites.
func newLedger(tb testing.TB, revisions, sites int) LedgerFile {
	tb.Helper()
	f := LedgerFile{Header: Header{Claim: claimOfLedger, ClusterUID: "cluster-1"}}
	f = appendTo(tb, f, ledger.Event{Opened: &ledger.Opened{Ledger: "demo", Home: "platform"}})
	for n := range revisions {
		f = appendTo(tb, f, revisionOf(int64(n+1), sitesOf(sites))...)
	}
	return f
}

func encode(tb testing.TB, f LedgerFile) []byte {
	tb.Helper()
	b, err := f.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestLedgerFile reads a file back.
func TestLedgerFile(t *testing.T) {
	f := newLedger(t, 3, 2)
	got, err := DecodeLedger(encode(t, f))
	if err != nil {
		t.Fatal(err)
	}
	f.Format, f.MinReader = format, minReader
	if diff := cmp.Diff(f, got, cmpopts.IgnoreUnexported(Header{})); diff != "" {
		t.Errorf("\nA decoded file has the encoded content.\nDecodeLedger(...): -want, +got:\n%s", diff)
	}
	if e := got.Events[1]; e.Seq != 2 || e.Ordered == nil || e.Ordered.Revision.Plan != nil {
		t.Errorf("\nThe list of events has no lists of Sites.\nEvents[1]: got %+v", e)
	}
}

// TestLedgerFileBytes measures the file of a deployment with as many Sites as there may be, after many revisions.
func TestLedgerFileBytes(t *testing.T) {
	b := encode(t, newLedger(t, 40, ledger.MaxSites))
	if len(b) >= 256<<10 {
		t.Errorf("\nA ledger of 500 Sites has less than 256 KiB.\nEncode(): got %d bytes", len(b))
	}
	t.Logf("ledger_bytes_500_sites: %d", len(b))
}

// canaryOf returns the events of a revision that comes to Sites by weights, and is verified there.
func canaryOf(number int64, sites []string) []ledger.Event {
	events := revisionOf(number, sites)
	r, j := &events[0].Ordered.Revision, events[1].Judged
	r.Track, r.Workload, r.Stable = "green", digestOf('c'), number-1
	r.Plan = []ledger.Step{{Sites: sites, Weight: new(int32(0)), Ahead: new(int32(5))}}
	for n := range int32(ledger.MaxSteps - 1) {
		r.Plan = append(r.Plan, ledger.Step{Weight: new(n + 1), Ahead: new(n + 2), Gate: true, Pause: "10m0s"})
	}
	last := &r.Plan[ledger.MaxSteps-1]
	last.Weight, last.Ahead = new(int32(100)), nil
	for i := range j.Trees {
		j.Trees[i].Part = strings.Repeat("e", 40)
	}
	advance := func(step int32) ledger.Event {
		return ledger.Event{Advanced: &ledger.Advanced{Step: step, Stage: ledger.StageSteps}}
	}
	out := []ledger.Event{events[0]}
	for step := range int32(ledger.MaxSteps) {
		out = append(out, advance(step))
	}
	return append(out, events[1])
}

// TestLedgerFileBytesCanary measures the file of a deployment in tracks, with as many Sites and steps as there may be.
func TestLedgerFileBytesCanary(t *testing.T) {
	f := newLedger(t, 0, 0)
	for n := range int64(12) {
		f = appendTo(t, f, canaryOf(n+1, sitesOf(ledger.MaxSites))...)
	}
	b := encode(t, f)
	if len(b) >= 256<<10 {
		t.Errorf("\nA ledger of 500 Sites in tracks has less than 256 KiB.\nEncode(): got %d bytes", len(b))
	}
	t.Logf("ledger_bytes_500_sites in tracks: %d", len(b))
}

// TestLedgerFileEvents appends more events than a file lists.
func TestLedgerFileEvents(t *testing.T) {
	f := newLedger(t, 40, 1)
	got, err := DecodeLedger(encode(t, f))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Events); n != maxEvents || got.Events[n-1].Seq != got.State.Seq {
		t.Errorf("\nA file lists the last %d events.\nEvents: got %d, the last one %d of %d", maxEvents, n, got.Events[n-1].Seq, got.State.Seq)
	}
	for n := range 60 {
		rejected := revisionOf(int64(41+n), sitesOf(1))[:1]
		rejected[0].Ordered.Revision.Request.Intent = fmt.Sprint(n)
		message := ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed", Message: strings.Repeat("ä", 1024)}
		f = appendTo(t, f, append(rejected, ledger.Event{Judged: &ledger.Judged{Verdict: message}})...)
	}
	got, err = DecodeLedger(encode(t, f))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got.Events)
	if n := len(got.Events); err != nil || n == maxEvents || n < 10 || len(b) > 2*maxEventsBytes {
		t.Errorf("\nA file lists fewer events where they are long.\nEvents: got %d of %d bytes (%v)", n, len(b), err)
	}
}

// TestWithoutLists lists a recovery without the history of the copy that it goes on from.
func TestWithoutLists(t *testing.T) {
	copied := ledger.State{Head: ledger.Head{Ledger: "l", Seq: 4}, Home: "fleet", LastNumber: 2, History: []ledger.Past{{Number: 1}}}
	got := withoutLists(ledger.Event{Recovered: &ledger.Recovered{Copy: copied}})
	want := ledger.Event{Recovered: &ledger.Recovered{Copy: ledger.State{Head: copied.Head, Home: "fleet", LastNumber: 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("withoutLists(...): -want, +got:\n%s", diff)
	}
	if len(copied.History) != 1 {
		t.Error("The copy itself keeps its history.")
	}
}

// TestLedgerFileUnknownFields writes back the fields of a newer version.
func TestLedgerFileUnknownFields(t *testing.T) {
	stored := map[string]any{}
	if err := json.Unmarshal(encode(t, newLedger(t, 1, 1)), &stored); err != nil {
		t.Fatal(err)
	}
	s := stored["state"].(map[string]any)
	stored["later"], s["later"] = "file", "state"
	s["current"].(map[string]any)["later"] = "revision 1"
	s["history"].([]any)[0].(map[string]any)["later"] = "past 1"
	stored["events"].([]any)[0].(map[string]any)["later"] = "event 1"
	content, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	f, err := DecodeLedger(content)
	if err != nil {
		t.Fatal(err)
	}
	encoded := string(encode(t, f))
	for _, want := range []string{`"later": "file"`, `"later": "state"`, `"later": "revision 1"`, `"later": "past 1"`, `"later": "event 1"`} {
		if !strings.Contains(encoded, want) {
			t.Errorf("\nA field that is not known is written back.\nEncode(): want %s", want)
		}
	}
	next := string(encode(t, appendTo(t, f, revisionOf(2, sitesOf(1))...)))
	for _, want := range []string{`"later": "file"`, `"later": "state"`, `"later": "past 1"`, `"later": "event 1"`} {
		if !strings.Contains(next, want) {
			t.Errorf("\nA field that is not known is written back with the next revision.\nEncode(): want %s", want)
		}
	}
	if strings.Contains(next, "revision 1") {
		t.Error("\nAn unknown field of one revision is not written to the next revision.\nEncode(): got the field of revision 1")
	}
}

// TestDecodeLedger reads files that this version did not write.
func TestDecodeLedger(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(file, state map[string]any)
		want   string
		newer  bool
	}{
		"NewerFormat": {reason: "A newer format is read as long as it says that this version may.", change: func(f, _ map[string]any) { f["format"] = 3 }},
		"NewerReader": {reason: "The error of a file that needs a newer reader differs from the error of a broken file.", change: func(f, _ map[string]any) { f["minReader"] = 3; f["state"] = "other" }, want: "needs a reader of format 3", newer: true},
		"OldFormat":   {reason: "The format before is not read.", change: func(f, _ map[string]any) { f["format"] = 1 }, want: "format 1 is not known"},
		"NoState":     {reason: "A file without a readable state is refused.", change: func(f, _ map[string]any) { f["state"] = "none" }, want: "malformed"},
		"LongHome": {
			reason: "A name that no status can show is refused.",
			change: func(_, s map[string]any) { s["home"] = strings.Repeat("x", 269) }, want: "state.home has more than 268 characters",
		},
		"BelowZero": {reason: "A number below zero is refused.", change: func(_, s map[string]any) { s["seq"] = -1 }, want: "state.seq is below 0"},
		"OtherVerdict": {
			reason: "A verdict that is not known is refused.",
			change: func(_, s map[string]any) { s["verdict"] = map[string]any{"result": "Maybe"} }, want: "state.verdict.result is not known",
		},
		"NoPlan": {
			reason: "A revision without a plan is refused.",
			change: func(_, s map[string]any) { s["current"].(map[string]any)["plan"] = []any{} }, want: "state.current.plan has fewer than 1 items",
		},
		"BeyondPlan": {
			reason: "A step that the plan does not have is refused: each reader would look beyond its end.",
			change: func(_, s map[string]any) { s["cursor"].(map[string]any)["step"] = 19 }, want: "cursor.step is 19, and the plan of revision",
		},
		"LongTree": {reason: "A tree that no status can show is refused.", change: func(_, s map[string]any) {
			past := s["history"].([]any)[0].(map[string]any)
			past["trees"].([]any)[0].(map[string]any)["id"] = strings.Repeat("f", 41)
		}, want: "state.history[0].trees[0].id has more than 40 characters"},
		"ConfigOfNamespace": {
			reason: "The home may be a ProviderConfig with the longest name.",
			change: func(_, s map[string]any) { s["home"] = "ProviderConfig/" + strings.Repeat("x", 253) },
		},
		"LongPart": {reason: "A part of a tree that no status can show is refused.", change: func(_, s map[string]any) {
			past := s["history"].([]any)[0].(map[string]any)
			past["trees"].([]any)[0].(map[string]any)["part"] = strings.Repeat("f", 41)
		}, want: "state.history[0].trees[0].part has more than 40 characters"},
		"LongTrack": {reason: "A track that no status can show is refused.", change: func(_, s map[string]any) {
			s["history"].([]any)[0].(map[string]any)["track"] = strings.Repeat("x", 64)
		}, want: "state.history[0].track has more than 63 characters"},
		"LowAhead": {reason: "A share of pods that no status can show is refused.", change: func(_, s map[string]any) {
			s["current"].(map[string]any)["plan"].([]any)[0].(map[string]any)["ahead"] = -1
		}, want: "state.current.plan[0].ahead is below 0"},
		"NoEnd": {reason: "A past revision without an end is refused, which a status has to have.", change: func(_, s map[string]any) {
			delete(s["history"].([]any)[0].(map[string]any), "endedAt")
		}, want: "state.history[0].endedAt is empty"},
		"OtherLetters": {
			reason: "A field in capitals is an unknown field, and does not replace the checked field.",
			change: func(_, s map[string]any) { s["HOME"] = 1 },
		},
		"ManyRequests": {
			reason: "More requests than a status can show are refused.",
			change: func(_, s map[string]any) { s["requests"] = make([]string, 33) }, want: "state.requests has more than 32 items",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stored := map[string]any{}
			if err := json.Unmarshal(encode(t, newLedger(t, 1, 1)), &stored); err != nil {
				t.Fatal(err)
			}
			tc.change(stored, stored["state"].(map[string]any))
			content, err := json.Marshal(stored)
			if err != nil {
				t.Fatal(err)
			}
			_, err = DecodeLedger(content)
			var newer *NewerError
			if errors.As(err, &newer) != tc.newer {
				t.Errorf("\n%s\nDecodeLedger(...): got %v", tc.reason, err)
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("\n%s\nDecodeLedger(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
	twice := strings.Replace(string(encode(t, newLedger(t, 1, 1))), `"state": {`, `"state": {"home": "`+strings.Repeat("x", 269)+`"}, "state": {`, 1)
	if _, err := DecodeLedger([]byte(twice)); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("\nA duplicate field is refused: its checked value can differ from the value in use.\nDecodeLedger(...): got %v", err)
	}
	if _, err := DecodeLedger(make([]byte, maxLedgerBytes+1)); err == nil {
		t.Error("\nA file that is too large is not decoded.\nDecodeLedger(...): got no error")
	}
}

// BenchmarkLedgerFile measures how large a ledger of 500 Sites is, and how long it takes to encode.
func BenchmarkLedgerFile(b *testing.B) {
	f, size := newLedger(b, 40, ledger.MaxSites), 0
	for b.Loop() {
		size = len(encode(b, f))
	}
	b.ReportMetric(float64(size), "ledger_bytes_500_sites")
}

// TestLastEvents leaves out the oldest events until the rest has room.
func TestLastEvents(t *testing.T) {
	event := func(bytes int) LoggedEvent {
		e := LoggedEvent{Event: ledger.Event{Opened: &ledger.Opened{}}}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		e.Opened.Ledger = strings.Repeat("x", bytes-len(b))
		return e
	}
	quarter := maxEventsBytes / 4
	cases := map[string]struct {
		reason string
		events []LoggedEvent
		want   int
	}{
		"None": {reason: "A ledger without events lists none."},
		"Fit": {
			reason: "Events that fill the room to the last byte are listed.",
			events: []LoggedEvent{event(quarter), event(quarter), event(quarter), event(quarter)}, want: 4,
		},
		"Over": {
			reason: "If the events have a byte too much, the oldest event is left out.",
			events: []LoggedEvent{event(quarter), event(quarter + 1), event(quarter), event(quarter)}, want: 3,
		},
		"Large": {
			reason: "If one event takes all the room, the earlier events are left out.",
			events: []LoggedEvent{event(1000), event(1000), event(maxEventsBytes)}, want: 1,
		},
		"Huge": {reason: "An event that never fits is not listed.", events: []LoggedEvent{event(1000), event(maxEventsBytes + 1)}, want: 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := len(lastFittingEvents(tc.events)); got != tc.want {
				t.Errorf("\n%s\nlastEvents(...): want %d events, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestEncodeTooLarge encodes a file that has room, and the same one where a byte is missing.
func TestEncodeTooLarge(t *testing.T) {
	f := LedgerFile{Header: Header{Claim: claimOfLedger, ClusterUID: "uid-1", Format: format}}
	b, err := encodeStateFile(ledgerFile, f, maxLedgerBytes, nil, &LedgerFile{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := encodeStateFile(ledgerFile, f, len(b), nil, &LedgerFile{}); err != nil {
		t.Errorf("\nA file that fills its room is encoded.\nencodeFile(...): %v", err)
	}
	_, err = encodeStateFile(ledgerFile, f, len(b)-1, nil, &LedgerFile{})
	want := fmt.Sprintf("cannot encode state: %d bytes are more than the %d that fit", len(b), len(b)-1)
	if err == nil || err.Error() != want {
		t.Errorf("\nAn error says how large a file is that has no room.\nencodeFile(...): want %s, got %v", want, err)
	}
}

// followedLedger returns a file whose first events are of a spec, with so many last events that a mandate recorded.
func followedLedger(tb testing.TB, mandated int) LedgerFile {
	tb.Helper()
	f := newLedger(tb, 1, 1)
	head := f.State.Head
	for n := range mandated {
		f = appendTo(tb, f, revisionOf(int64(n+2), sitesOf(1))[:1]...)
		f.Events[len(f.Events)-1].By = RecorderMandate
	}
	f.Taken = &head
	return f
}

// TestTakenHead reads files whose last two events a mandate recorded.
func TestTakenHead(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(f *LedgerFile)
		want   bool
	}{
		"Mandated": {reason: "Events of a mandate follow the events of the spec.", change: func(*LedgerFile) {}, want: true},
		"Absent":   {reason: "Without the field the last events are events of the spec.", change: func(f *LedgerFile) { f.Taken = nil }},
		"Older": {
			reason: "A version that does not know the field retains it, and records the events of a spec.",
			change: func(f *LedgerFile) { f.Events[len(f.Events)-1].By = "" },
		},
		"First": {
			reason: "Each event since has to be of a mandate, and not the last event alone.",
			change: func(f *LedgerFile) { f.Events[len(f.Events)-2].By = "" },
		},
		"Unlisted":  {reason: "Events that are not listed show nothing.", change: func(f *LedgerFile) { f.Events = f.Events[len(f.Events)-1:] }},
		"Gap":       {reason: "A list that leaves out an event shows nothing.", change: func(f *LedgerFile) { f.Events[len(f.Events)-1].Seq++ }},
		"Same":      {reason: "The head of the ledger needs no second name.", change: func(f *LedgerFile) { f.Taken = &f.State.Head }},
		"Later":     {reason: "A head that the ledger has not reached does not belong to it.", change: func(f *LedgerFile) { f.Taken.Seq = 1 << 50 }},
		"Negative":  {reason: "A head has a number above 0.", change: func(f *LedgerFile) { f.Taken.Seq = -1 << 50 }},
		"Epoch":     {reason: "A mandate records nothing in another epoch than that of the spec.", change: func(f *LedgerFile) { f.Taken.Epoch++ }},
		"Elsewhere": {reason: "The head belongs to the same ledger.", change: func(f *LedgerFile) { f.Taken.Ledger = "other" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := followedLedger(t, 2)
			tc.change(&f)
			if got := f.TakenHead(); tc.want != (got != nil) || got != nil && *got != *f.Taken {
				t.Errorf("\n%s\nTakenHead(): got %v, want one %t", tc.reason, got, tc.want)
			}
		})
	}
}

// TestTakenEncoded writes a file whose last event a mandate recorded, and then an event of a spec.
func TestTakenEncoded(t *testing.T) {
	f, err := DecodeLedger(encode(t, followedLedger(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if f.TakenHead() == nil || f.MinReader != minReader {
		t.Errorf("\nA file that is read says after which events a mandate went on, to every reader of the format.\nTakenHead(): got %v, minReader %d", f.TakenHead(), f.MinReader)
	}
	b := string(encode(t, appendTo(t, f, ledger.Event{Closed: &ledger.Closed{}})))
	if strings.Contains(b, `"taken"`) || !strings.Contains(b, `"by": "mandate"`) {
		t.Errorf("\nAfter an event of a spec no event follows by mandate, and the list still names the actor of the previous event.\nEncode(): got %s", b)
	}
}

// TestAppendMandated appends events to a file whose last events are of a spec, and to a file that a mandate had continued.
func TestAppendMandated(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   LedgerFile
		want   ledger.Head
	}{
		"First": {reason: "The first event by a mandate names the head before it.", file: newLedger(t, 1, 1), want: newLedger(t, 1, 1).State.Head},
		"Next":  {reason: "A later event leaves the head that the mandate went on from.", file: followedLedger(t, 1), want: *followedLedger(t, 1).Taken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			original := tc.file.State
			e := revisionOf(original.LastNumber+1, sitesOf(1))[:1]
			next, err := ledger.Append(original, time.Time{}, e...)
			if err != nil {
				t.Fatal(err)
			}
			f := tc.file.AppendMandated(next, e)
			got, last := f.TakenHead(), f.Events[len(f.Events)-1]
			if got == nil || *got != tc.want || last.By != RecorderMandate || last.Seq != next.Seq {
				t.Errorf("\n%s\nAppendMandated(...): want event %d by a mandate after %v, got event %d by %q after %v", tc.reason, next.Seq, tc.want, last.Seq, last.By, got)
			}
			if tc.file.State.Head != original.Head {
				t.Errorf("\n%s\nAppendMandated(...) leaves the file before as it is: want %v, got %v", tc.reason, original.Head, tc.file.State.Head)
			}
		})
	}
}

// TestTakenHostile decodes files that any user may push.
func TestTakenHostile(t *testing.T) {
	valid := string(encode(t, followedLedger(t, 1)))
	for reason, change := range map[string][2]string{
		"An empty head is refused.":                {`"taken": {`, `"taken": null, "later": {`},
		"A head with a negative number is refused": {`"seq": 3`, `"seq": -3`},
	} {
		forged := strings.Replace(valid, change[0], change[1], 1)
		if strings.Contains(change[0], "seq") {
			offset := strings.Index(valid, `"taken"`)
			forged = valid[:offset] + strings.Replace(valid[offset:], change[0], change[1], 1)
		}
		if _, err := DecodeLedger([]byte(forged)); err == nil || forged == valid {
			t.Errorf("\n%s\nDecodeLedger(...): want an error, got none (forged %t)", reason, forged != valid)
		}
	}
}
