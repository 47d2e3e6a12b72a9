package soak

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A mutant is the product with one rule broken. A test of a package fails with it.
type mutant struct {
	reason string
	// file of the repository, and the text in it that becomes another one.
	file, text, becomes string
	// pkg is the package whose tests fail, and tests which of them are run. Empty means all.
	pkg, tests string
}

// brokenSource returns the path of the file of a mutant, and its text with the rule broken. The file has the text of the rule exactly once.
func (m mutant) brokenSource(t *testing.T) (path, broken string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.text); n != 1 || m.text == m.becomes {
		t.Fatalf("%s has the rule %d times: %s", m.file, n, m.text)
	}
	return path, strings.Replace(string(b), m.text, m.becomes, 1)
}

// runMutantTests runs the tests that have to fail with a mutant, and returns their output and whether one failed. A mutant that does not compile
// fails none.
func (m mutant) runMutantTests(t *testing.T) (printed string, fails bool) {
	t.Helper()
	dir := t.TempDir()
	path, broken := m.brokenSource(t)
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{path: writeGoFile(t, dir, broken)}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-failfast", "-overlay", writeGoFile(t, dir, string(b)), "-run", m.tests, module+"/"+m.pkg)
	cmd.Env = append(os.Environ(), variable+"=", seedVariable+"=")
	out, err := cmd.CombinedOutput()
	return string(out), err != nil && strings.Contains(string(out), "--- FAIL: ")
}

// canaryMutants break the rules of canaries.
func canaryMutants() map[string]mutant {
	out := map[string]mutant{}
	for _, some := range []map[string]mutant{weightMutants(), proofMutants(), stepMutants(), lossMutants()} {
		maps.Copy(out, some)
	}
	return out
}

// weightMutants move weight in a commit that makes or removes pods, or remove the stable pods too early.
func weightMutants() map[string]mutant {
	return map[string]mutant{
		"WeightInPrepare": {
			reason: "The commit that makes the pods of a canary gives them no requests.", file: "function/canary/plan.go",
			text: "out := []ledger.Step{{Weight: new(int32(0))}}", becomes: "out := []ledger.Step{{Weight: new(int32(1))}}", pkg: "function/canary",
		},
		"SizeNotAhead": {
			reason: "The pods of a step are there one step before its requests.", file: "apis/directories/tracks.go",
			text: "s.Ahead = max(s.Weight, int(*d.Aim.Ahead))", becomes: "s.Ahead = s.Weight", pkg: "function/deployment", tests: "TestCanaryWalk",
		},
		"FullBeforeSize": {
			reason: "A canary whose steps are all released has the pods for all requests before it gets them.", file: "apis/step/stage.go",
			text: "if p.Ahead != nil && !s.Cursor.Full {", becomes: "if p.Ahead != nil {", pkg: "apis/step",
		},
		"AloneBeforeRecorded": {
			reason: "The stable pods stay until the verdict is recorded.", file: "apis/step/stage.go",
			text: "s.Cursor.Stage >= ledger.StageAlone || !in.IsRecorded {", becomes: "s.Cursor.Stage >= ledger.StageAlone {", pkg: "apis/step",
		},
		"NoPrepare": {
			reason: "The pods of a canary start in a step of their own, before it gets requests.", file: "function/canary/plan.go",
			text: "out[0].Sites, out[len(out)-1].Sites = served, remaining", becomes: "out = out[1:]\n\tout[0].Sites, out[len(out)-1].Sites = served, remaining", pkg: "function/canary",
		},
		"NoClear": {
			reason: "A track loses its requests before its pods are replaced.", file: "apis/step/tracks.go",
			text: "return t.origin.revision == 0 || t.canReplacePods()", becomes: "return true", pkg: "apis/step",
		},
		"NoShift": {
			reason: "Nothing else changes before the requests have gone back and ended.", file: "apis/step/tracks.go",
			text: "return t.origin.revision == 0 || t.hasOriginPods()\n\t}\n\treturn t.other.getsNoRequests()", becomes: "return t.origin.revision == 0 || t.hasOriginPods()\n\t}\n\treturn true", pkg: "apis/step",
		},
		"InPlaceWithoutShift": {
			reason: "Pods are replaced in place only while the other track gets no requests.", file: "apis/step/tracks.go",
			text: "inPlace := !t.otherCanServe && t.other.getsNoRequests()", becomes: "inPlace := !t.otherCanServe", pkg: "apis/step",
		},
		"FrontSwitchedEarly": {
			reason: "Callers in the cluster go to the canary when it gets all requests, and not before.", file: "apis/track/state.go",
			text: "if s.Weight == 100 {", becomes: "if s.Weight > 0 {", pkg: "apis/track",
		},
	}
}

// proofMutants accept facts without proof.
func proofMutants() map[string]mutant {
	return map[string]mutant{
		"DrainSkipped": {
			reason: "A track that lost its requests is idle once these have ended.", file: "provider/proof/traffic.go",
			text:    "o.Idle = o.IdleSince != nil && !f.Now.Before(o.IdleSince.Add(drainDuration(*want.Traffic)))",
			becomes: "o.Idle = o.IdleSince != nil", pkg: "provider/proof",
		},
		"IdleByGit": {
			reason: "A track is idle when a Site proved that, and not when Git gives it no requests.", file: "apis/evidence/tracks.go",
			text:    "return t.WeighedAt == nil || proof.Idle && proof.ProvenAt != nil && proof.ProvenAt.Compare(*t.WeighedAt) > 0",
			becomes: "return t.Weight == 0", pkg: "function/deployment", tests: "Canary|Lost|Rollback",
		},
		"StagePassedByGit": {
			reason: "A stage ends by a proof, whatever Git looks like.", file: "apis/step/tracks.go",
			text: "t.home.Revision == t.origin.revision && (t.home.IsProven || served)", becomes: "t.home.Revision == t.origin.revision && (served || true)", pkg: "apis/step",
		},
		"AvailabilityNotAsked": {
			reason: "A step is live when the pods of the canary are available.", file: "provider/proof/traffic.go",
			text: "t.Awaited && p != nil {", becomes: "t.Awaited && p != nil && false {", pkg: "provider/proof",
		},
		"MissingParentCounts": {
			reason: "A Gateway that says nothing about a route has not accepted it.", file: "provider/gatewayapi/route.go",
			text: "if !found {", becomes: "if !found && false {", pkg: "provider/gatewayapi",
		},
		"GenerationNotCompared": {
			reason: "A Gateway's report about an earlier generation of a route does not count.", file: "provider/gatewayapi/route.go",
			text: "if all[i].ObservedGeneration != generation {", becomes: "if all[i].ObservedGeneration > generation {", pkg: "provider/gatewayapi",
		},
	}
}

// stepMutants let a step, or the canary, end too early.
func stepMutants() map[string]mutant {
	return map[string]mutant{
		"FlapRestartsPause": {
			reason: "A pause does not begin again when a Site is not live for a while.", file: "provider/proof/pause.go",
			text: "if start.IsZero() && !live {", becomes: "if !live {", pkg: "provider/proof",
		},
		"PromotedNotCompared": {
			reason: "A Promote releases the pause that it names, and no later one.", file: "apis/ledger/plan.go",
			text: "return s.Cursor.Promoted > s.Cursor.Step }", becomes: "return s.Cursor.Promoted > 0 }", pkg: "apis/step",
		},
		"GateReleaseNotCompared": {
			reason: "A user decides on the Gate that came to no verdict, and on no later one.", file: "apis/ledger/plan.go",
			text: "return s.Cursor.GateReleased > s.Cursor.Step }", becomes: "return s.Cursor.GateReleased > 0 }", pkg: "apis/step",
		},
		"PauseReleasesGate": {
			reason: "The release of a pause does not release a Gate.", file: "apis/step/judge.go",
			text: "in.Proof.IsHeld && s.IsGated() && !s.IsGateReleased()", becomes: "in.Proof.IsHeld && s.IsGated() && !s.IsGateReleased() && !s.IsStepReleased()", pkg: "apis/step",
		},
		"GateNotAwaited": {
			reason: "A step with a Gate ends by its verdict.", file: "apis/step/judge.go",
			text: "return HoldNone, isOpen", becomes: "return HoldNone, false", pkg: "apis/step", tests: "TestCanaryStories",
		},
		"CatalogRestarts": {
			reason: "A change of the catalog does not end a canary.", file: "apis/step/start.go",
			text: "case s.Verdict == nil && s.Current.HasSteps() && in.HoldsFiles && d.hasIntentOf(*s.Current):", becomes: "case false:", pkg: "apis/step",
		},
		"StableIsNewest": {
			reason: "The stable revision was verified and not withdrawn.", file: "apis/ledger/state.go",
			text: "if p.IsTarget() {\n\t\t\ts.Stable", becomes: "if p.Number > 0 {\n\t\t\ts.Stable", pkg: "apis/ledger",
		},
	}
}

// lossMutants lose sight of the content of a repository.
func lossMutants() map[string]mutant {
	return map[string]mutant{
		"PartsNotCompared": {
			reason: "A directory that is made of files and parts has the id that is asked for.", file: "provider/delivery/decision/parts.go",
			text: "if id != t.Tree {", becomes: "if id != t.Tree && false {", pkg: "provider/controller/gitdelivery", tests: "Parts",
		},
		"FilesNotRendered": {
			reason: "A rollback whose files are in no object takes the requests back before the pods go.", file: "function/compose/tracks/tracks.go",
			text: "|| !c.IsRendered {", becomes: "|| c.IsRendered {", pkg: "function/deployment", tests: "TestLostInCanary|TestCanaryWalk",
		},
		"DirectoriesNotRecreated": {
			reason: "A rejected revision whose object names no directory is rolled back.", file: "function/deployment/lostfiles.go",
			text: "if s.IsRejected() {", becomes: "if s.IsVerified() {", pkg: "function/deployment", tests: "TestLostInCanary|TestCanaryWalk",
		},
		"DirectoryNotCompared": {
			reason: "An object from a backup does not bring back the weights that its position has left behind.", file: "provider/delivery/decision/fence.go",
			text: "t.After == \"\" ||", becomes: "true ||", pkg: "provider/delivery/decision", tests: "TestFenceDirectories",
		},
		"TracksNotShown": {
			reason: "A status says which track gets requests together with the position.", file: "provider/controller/gitdelivery/trackstatus.go",
			text: "isMissing || !e.facts.Rebuilt {", becomes: "isMissing && e.facts.Rebuilt {", pkg: "provider/controller/gitdelivery", tests: "TestTracksOfRefused",
		},
	}
}
