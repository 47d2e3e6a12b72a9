package soak

import "maps"

// waveMutants break the rules of later waves: whose trees they are, who knows their directories, when they come, and what holds them back.
func waveMutants() map[string]mutant {
	out := map[string]mutant{}
	for _, some := range []map[string]mutant{laterMutants(), laterReaderMutants(), followedMutants(), closedMutants(), firstStepMutants()} {
		maps.Copy(out, some)
	}
	return out
}

// laterMutants give a directory the tree of another revision, or at another step than that of its Site.
func laterMutants() map[string]mutant {
	later := func(tests string, m mutant) mutant {
		m.file, m.pkg, m.tests = "apis/directories/later.go", "apis/directories", tests
		return m
	}
	return map[string]mutant{
		"LaterOfOtherRequest": later("TestHoldFiles|TestAt", mutant{
			reason: "The later trees of a lost revision with the same number are not delivered.",
			text:   "|| l.Request != request", becomes: "|| request == \"\"",
		}),
		"BegunOfOtherRequest": later("TestBegun", mutant{
			reason: "A directory in tracks gets no files of a lost revision with the same number.",
			text:   "if i < 0 || p.Later[i].Request != s.Current.Request.Digest() {", becomes: "if i < 0 {",
		}),
		"LaterTooEarly": later("TestAt", mutant{
			reason: "A directory gets its later tree at the step of its Site.",
			text:   "isReached := l.Tree, l.Step < s.NextStep()", becomes: "isReached := l.Tree, l.Step <= s.NextStep()",
		}),
		"EarlierTreesInWave": later("TestAt", mutant{
			reason: "The trees of an earlier revision have no part in a wave.",
			text:   "if p.AskedPosition().Revision == s.Current.Number {", becomes: "if p.AskedPosition().Revision > 0 {",
		}),
		"LaterWithoutRequest": {
			reason: "A later tree names the request of its revision.", file: "apis/directories/later.go",
			text: "Revision: s.Current.Number, Request: s.Current.Request.Digest(), Step", becomes: "Revision: s.Current.Number, Step",
			pkg: "function/deployment", tests: "TestBetweenWaves",
		},
		"WithdrawnWaveForgotten": {
			reason: "The directories of a wave are restored for each attempt of a user's rollback.", file: "provider/mandate/follower.go",
			text: "	withdrawn.Number = s.Withdraws\n", becomes: "", pkg: "provider/mandate", tests: "TestRollBackMovedWave",
		},
		"WithdrawnWaveUnwritten": {
			reason: "A rollback of a user restores no directory that no revision wrote.", file: "provider/mandate/follower.go",
			text: "delivered[l.Path].Revision < l.Revision", becomes: "delivered[l.Path].Revision < 0", pkg: "provider/mandate", tests: "TestRollBackMovedWave",
		},
	}
}

// laterReaderMutants hide the directories of later steps from who has to know each directory of a delivery.
func laterReaderMutants() map[string]mutant {
	const each = "for t := range d.Spec.ForProvider.EachTree() {"
	hide := func(dir, file, tests string, m mutant) mutant {
		m.file, m.pkg, m.tests = dir+"/"+file, dir, tests
		if m.text == "" {
			m.text, m.becomes = each, "for _, t := range d.Spec.ForProvider.Trees {"
		}
		return m
	}
	return map[string]mutant{
		"EachTreeOfStep": hide("apis/delivery/v1alpha1", "trees.go", "TestEachTree", mutant{
			reason: "The trees of a delivery are those of all steps.",
			text:   "for _, l := range p.Later {\n\t\t\tif !yield(", becomes: "for _, l := range p.Later[:0] {\n\t\t\tif !yield(",
		}),
		"LaterSiteUnobserved": hide("provider/controller/sitesync", "gather.go", "TestBringing", mutant{
			reason: "A SiteSync knows the repository that delivers to a Site in a later step.",
			text:   each + "\n\t\tif t.Site == want.Name", becomes: "for _, t := range d.Spec.ForProvider.Trees {\n\t\tif t.Site == want.Name",
		}),
		"LaterSiteUnjudged": hide("provider/gates/verdict", "evidence.go", "TestLiveByDelivery", mutant{
			reason: "A Gate knows the repository that delivers to a Site in a later step.",
		}),
		"LaterDirectoryPruned": hide("provider/controller/prunerequest", "owners.go", "TestAddDelivery", mutant{
			reason: "A directory of a later step has an owner, and is not pruned.",
		}),
		"LaterObjectsUnread": hide("provider/bundle/inventory", "inventory.go", "TestAddDelivered", mutant{
			reason: "A package holds the objects that it delivers in later steps.",
		}),
		"LaterSiteUnused": hide("provider/usage", "usage.go", "TestSites", mutant{
			reason: "A delivery uses the Sites of later steps.",
		}),
		"LaterSiteUnread": hide("provider/delivery/decision", "facts.go", "TestAllSiteNames", mutant{
			reason: "The Site of a later step is read before its step.",
			text:   "for t := range f.Spec.EachTree() {\n\t\tout.Insert", becomes: "for _, t := range f.Spec.Trees {\n\t\tout.Insert",
		}),
		"LaterDirectoryUnknown": hide("provider/delivery/decision", "mandate.go", "TestDeliveredByPath", mutant{
			reason: "The directory of a later step is known once it was delivered.",
			text:   "for t := range f.Spec.EachTree() {\n\t\tif delivered,", becomes: "for _, t := range f.Spec.Trees {\n\t\tif delivered,",
		}),
	}
}

// followedMutants prove a wave by a SiteSync that looks for other trees, or leave a Site out.
func followedMutants() map[string]mutant {
	compare := func(m mutant) mutant {
		m.file, m.pkg, m.tests = "apis/evidence/comparison.go", "apis/evidence", "TestComparison"
		return m
	}
	return map[string]mutant{
		"FollowedToAnyTree": compare(mutant{
			reason: "A SiteSync that followed the ledger to other trees proves nothing.",
			text:   "trees[want.Name] != want.Tree", becomes: "trees[want.Name] != want.Tree && false",
		}),
		"FollowedAnywhere": compare(mutant{
			reason: "A SiteSync that followed the ledger in another directory proves nothing.",
			text:   "return t.Path != want.Path || t.RepositoryRef", becomes: "return t.RepositoryRef",
		}),
		"FollowedLaterTree": compare(mutant{
			reason: "The Site of a later step runs the tree of an earlier revision until its step.",
			text:   "want.Wave <= step &&", becomes: "(want.Wave <= step || true) &&",
		}),
		"LaterSiteProven": forwardMutant("TestForwardProof", mutant{
			reason: "The Site of a later step does not keep a step from its proof.", file: "provider/mandate/forward.go",
			text: "return isReached && t.Action", becomes: "return (isReached || true) && t.Action",
		}),
		"WaveUnproven": forwardMutant("TestConcludeWaves", mutant{
			reason: "The next wave follows once each Site of the wave before runs the tree in its repository.", file: "provider/mandate/forward.go",
			text: "IsLive: c.IsLive() && f.runsEachTree(c),", becomes: "IsLive: c.IsLive(),",
		}),
		"NewSiteUnnamed": {
			reason: "The SiteSync of a canary names a Site whose first tree comes with a later wave.", file: "function/compose/tracks/tracks.go",
			text: "case wave <= c.State.Cursor.Step, c.State.IsMove():", becomes: "case true:", pkg: "function/deployment", tests: "TestCanaryNewSite",
		},
	}
}

// closedMutants go on to a wave whose Site was left, moved or closed.
func closedMutants() map[string]mutant {
	open := func(m mutant) mutant {
		m.file, m.pkg, m.tests = "provider/controller/gitdelivery/observation/witnesses.go", "provider/controller/gitdelivery/observation", "TestClosedSites"
		return m
	}
	leave := func(tests string, m mutant) mutant {
		m.file, m.pkg, m.tests = "function/deployment/decide.go", "function/deployment", tests
		return m
	}
	return map[string]mutant{
		"ClosedWaveCarried": forwardMutant("TestConcludeWaves", mutant{
			reason: "A wave with a Site that gets no later tree waits for the function.", file: "provider/mandate/forward.go",
			text: "return f.Closed[l.Site] })", becomes: "return f.Closed[l.Site] && false })",
		}),
		"CarrierOfAnyEpoch": forwardMutant("TestConcludeWaves", mutant{
			reason: "A repository whose spec was composed before a recovery of the ledger carries no wave.", file: "provider/mandate/forward.go",
			text: "recorded.Ledger == s.Ledger && recorded.Epoch == s.Epoch {", becomes: "recorded.Ledger == s.Ledger {",
		}),
		"MovedSiteOpen": open(mutant{
			reason: "A Site with another directory by now gets no later tree.",
			text:   "!strings.HasSuffix(\"/\"+l.Path, ", becomes: "false && !strings.HasSuffix(\"/\"+l.Path, ",
		}),
		"OtherLayoutOpen": open(mutant{
			reason: "A Site with another layout by now gets no later tree.", text: "|| l.Layout != site.Spec.Repository.Layout ||", becomes: "||",
		}),
		"ForbiddenSiteOpen": open(mutant{
			reason: "A Site that the namespace may not use gets no later tree.",
			text:   "|| policy.CheckSite(site, claim.Namespace) != nil ", becomes: "",
		}),
		"LeftSiteOpen": open(mutant{
			reason: "A Site that lost a label of the selector gets no later tree.", text: "|| !policy.HasLabels(site, matchLabels) ", becomes: "",
		}),
		"LabelsNotMandated": {
			reason: "A mandate has the labels by which the spec selects its Sites.", file: "function/deployment/mandate.go",
			text: "MatchLabels: dr.compiled.siteLabels, ", becomes: "", pkg: "function/deployment", tests: "TestNewMandate",
		},
		"LeftSiteInWave": leave("TestLeftBetweenWaves", mutant{
			reason: "The function brings no wave to a Site that the deployment has left.",
			text:   "s.NextStep() && moved[site]", becomes: "s.NextStep() && moved[site] && k.isChosenSite(site)",
		}),
		"MovedSiteInWave": leave("TestMovedBetweenWaves", mutant{
			reason: "The function brings no wave to a directory that its Site has left.",
			text:   "s.NextStep() && moved[site]", becomes: "s.NextStep() && moved[site] && !k.isChosenSite(site)",
		}),
	}
}

// firstStepMutants bring the files for the first step of a canary too early, too late, or to another directory, while the requests of an earlier one move back.
func firstStepMutants() map[string]mutant {
	begin := func(m mutant) mutant {
		m.file, m.pkg, m.tests = "apis/directories/later.go", "apis/directories", "TestBegun"
		return m
	}
	return map[string]mutant{
		"FirstStepUncarried": {
			reason: "The home carries the files for the first step from the start of the revision.", file: "function/compose/tracks/tracks.go",
			text: "s.StepOf(t.Site) < s.NextStep():", becomes: "s.HasReached(t.Site):", pkg: "function/deployment", tests: "TestReplacedCanaryCarriesFirstStep",
		},
		"FirstStepMoved": {
			reason: "The function brings no first step to a directory that its Site has left.", file: "function/deployment/decide.go",
			text: "s.NextStep() && moved[site]", becomes: "s.Cursor.Step+1 && moved[site]", pkg: "function/deployment", tests: "TestReplacedCanaryMoved",
		},
		"BegunBeforeSteps": begin(mutant{
			reason: "No shared file of a canary comes before its first step.", text: " || s.Verdict == nil && s.IsBeforeSteps() {", becomes: " {",
		}),
		"BegunOfRejected": begin(mutant{
			reason: "A canary that was rejected before its first step leaves no shared file.", text: "return !s.IsRejected() || ", becomes: "return true || ",
		}),
		"FirstFilesTooEarly": forwardMutant("TestCanMoveRequests", mutant{
			reason: "Requests leave a track by the shared files that the directory has.", file: "provider/mandate/tracks.go",
			text: "(l.Step > 0 || hasRevision(held, l.Revision))", becomes: "(l.Step >= 0 || hasRevision(held, l.Revision))",
		}),
	}
}
