package soak

import "maps"

// rules of the function, by name, each with a story that misses it.
func rules() map[string]rule {
	out := map[string]rule{}
	for _, some := range []map[string]rule{orders(), requests(), proofs(), waysBack(), goingOut()} {
		maps.Copy(out, some)
	}
	return out
}

// orders are the rules about where a deployment is, and when the next revision starts.
func orders() map[string]rule {
	return map[string]rule{
		"Highest": {
			reason: "The highest revision that is observed counts.", file: "rollout/order.go",
			at: "current == nil || «before(*current, all[i])»", without: "before(all[i], *current)", story: 1,
		},
		"NextNumber": {
			reason: "Of two requests under one number neither keeps it.", file: "rollout/order.go",
			at: "conflict = «conflict || current.Conflicts(all[i]) || current.Rejudges(all[i])»", without: "false", story: 7,
		},
		"Carried": {
			reason: "A rejection is carried over to the next number.", file: "deployment/decide.go",
			at: "if «o.hasConflict» {\n\t\tdesired.Carried", without: "false", story: 1000000,
		},
		"Revived": {
			reason: "What a repository rejected before is no order.", file: "rollout/order.go",
			at: "!asked.Conflicts(*done) && «!asked.Revives(*done, adopts(d))»", without: "true", story: 808,
		},
		"Untold": {
			reason: "While a repository did not tell, the same intent keeps its number.", file: "rollout/order.go",
			at: "if «w.Untold && w.Carried == nil» &&", without: "false", story: 1412,
		},
		"Frozen": {
			reason: "Nothing new is ordered while something is wrong.", file: "deployment/decide.go",
			at: "case «k.Problem != nil»:\n\t\treturn t.goOnUnchanged", without: "false", story: 282,
		},
		"GoesOn": {
			reason: "What was begun goes on while something is wrong.", file: "deployment/decide.go",
			at: "if «current == nil || !agreesWith(t.observed, *current)» {", without: "true", story: 8,
		},
		"Hold": {
			reason: "A rejected revision is held.", file: "rollout/order.go",
			at: "\tif «current.Rejected()» && ", without: "false", story: 4,
		},
		"Supersedes": {
			reason: "A new intent supersedes a way back.", file: "rollout/order.go",
			at: "«current.Intent == w.Request.Intent» {\n\t\treturn again", without: "current.Intent == w.Request.Intent || current.Attempt > 0", story: 28,
		},
		"OlderRenderer": {
			reason: "An order of a newer renderer is never replaced by an older one.", file: "rollout/order.go",
			at: "Newer(*current) || «current.RendererVersion > w.Request.RendererVersion»", without: "false", story: 138,
		},
		"EqualTrees": {
			reason: "A change of versions that leaves all trees equal is no new revision.", file: "rollout/order.go",
			at: "w.Request.Digest || «current.Intent == w.Request.Intent && w.Unchanged» {", without: "false", story: 10,
		},
		"InFlight": {
			reason: "Changes of the catalog wait for the verdict in flight.", file: "rollout/order.go",
			at: "return «w.InFlight && current.Verdict == nil» &&", without: "false", story: 19,
		},
	}
}

// requests are the rules about RolloutRequests.
func requests() map[string]rule {
	return map[string]rule{
		"ThisRevision": {
			reason: "A request is done for the revision that it names.", file: "rollout/requests.go",
			at: "case «r.Spec.Revision < o.Revision»:", without: "false", story: 4,
		},
		"AlreadyJudged": {
			reason: "What was judged is not aborted.", file: "rollout/requests.go",
			at: "case rolloutv1alpha1.ActionAbort:\n\t\tif «s.Order.Verdict != nil» {", without: "false", story: 104,
		},
		"AbortFirst": {
			reason: "Abort comes before all others.", file: "rollout/requests.go",
			at: "range «rolloutv1alpha1.Actions()» {", without: "slices.Concat(rolloutv1alpha1.Actions()[1:], rolloutv1alpha1.Actions()[:1])", typ: "[]rolloutv1alpha1.Action", story: 172,
		},
	}
}

// proofs are the rules about what is proven, and judged.
func proofs() map[string]rule {
	return map[string]rule{
		"ThisOrder": {
			reason: "What a delivery says of another order is no proof.", file: "evidence/delivery.go",
			at: "return hasReady(d, corev1.ConditionTrue) && «rollout.Alike(d.Spec.ForProvider.Order, o) && HasApplied(d, o)»", without: "true", story: 474,
		},
		"Generation": {
			reason: "What is said of an earlier generation is no evidence.", file: "evidence/delivery.go",
			at: "ready.Status == status && «ready.ObservedGeneration == m.GetGeneration()»", without: "true", story: 60,
		},
		"LiveFirst": {
			reason: "What is not proven to run is not verified.", file: "evidence/proof.go",
			at: "c.Sync == nil || «c.WatchesDesired() && AreSitesLive(c.ObservedSync, *c.Order)»", without: "true", story: 3,
		},
		"GateFirst": {
			reason: "What has a Gate waits for its verdict.", file: "rollout/judge.go",
			at: "!p.Live || «Gated(o) && !p.Passed» ||", without: "false", story: 1,
		},
		"GateOfStep": {
			reason: "A Gate judges one step.", file: "evidence/gate.go",
			at: "of.Request == o.Request && «of.Step == o.Step»", without: "true", story: 7,
		},
		"Refused": {
			reason: "What is refused for good is rejected.", file: "evidence/delivery.go",
			at: "if «!hasReady(d, corev1.ConditionFalse) || !rollout.Alike(d.Spec.ForProvider.Order, o)» {", without: "true", story: 108,
		},
		"NotSynced": {
			reason: "What does not run in time is rejected.", file: "evidence/sites.go",
			at: "if «!hasReady(s, corev1.ConditionFalse) || !IsSyncAbout(s, o)» {", without: "true", story: 2,
		},
		"Verdict": {
			reason: "A verdict that was recorded never changes.", file: "rollout/judge.go",
			at: "case «o.Verdict != nil»:\n\t\treturn o\n\tcase p.Failure", without: "o.Rejected()", story: 9,
		},
		"FreshSync": {
			reason: "A SiteSync that knows a newer order than the one there is made anew.", file: "deployment/resources.go",
			at: "d.ObservedSync != nil && «evidence.IsSyncAhead(d.ObservedSync, *d.Order)» {", without: "false", story: 10,
		},
		"Recorded": {
			reason: "Good news waits for the record.", file: "evidence/proof.go",
			at: "c.Order.Verified() && «c.IsRecorded()»\n}", without: "true", story: 2,
		},
		"ReadyNow": {
			reason: "Ready says what is live now, and not what succeeded once.", file: "evidence/proof.go",
			at: "return c.HasSucceeded() && «c.IsLive()» }", without: "true", story: 10,
		},
	}
}

// waysBack are the rules about taking a revision back.
func waysBack() map[string]rule {
	return map[string]rule{
		"ProvenBack": {
			reason: "What is taken back is proven to run.", file: "rollout/back.go",
			at: "case «r.Proof.Live»:", without: "true", story: 21,
		},
		"AttemptsEnd": {
			reason: "There are no more attempts than there may be.", file: "rollout/back.go",
			at: "case «o.Attempt >= r.Policy.MaxRetries»:", without: "false", story: 169,
		},
		"AttemptFails": {
			reason: "The next attempt begins when the last one failed.", file: "rollout/back.go",
			at: "case «r.Proof.Failure == nil»:", without: "false", story: 2,
		},
		"Policy": {
			reason: "The policy is read before the first attempt.", file: "rollout/back.go",
			at: "if «!wanted(o, r.Policy) || r.Policy.MaxRetries == 0» {", without: "false", story: 298,
		},
		"PolicyAgain": {
			reason: "The rollback policy is read before each further attempt.", file: "rollout/back.go",
			at: "case «!wanted(o, r.Policy)»:", without: "false", story: 2856,
		},
		"Everywhere": {
			reason: "A target was verified in every repository that took part in it.", file: "rollout/back.go",
			at: "return «bad[n]» })", without: "false", story: 35,
		},
		"TargetVerified": {
			reason: "Only a verified revision is a rollback target.", file: "rollout/back.go",
			at: "return h.Verdict != nil && «h.Verdict.Result == rolloutv1alpha1.VerdictVerified»", without: "true", story: 108,
		},
		"Withdrawn": {
			reason: "A target was never taken back.", file: "rollout/back.go",
			at: "&& «!h.Withdrawn» &&", without: "true", story: 1000001,
		},
		"Cap": {
			reason: "Only so many revisions are taken back within an hour.", file: "rollout/back.go",
			at: "if «n >= most» {", without: "false", story: 876,
		},
		"Touched": {
			reason: "Only what the revision changed is brought back.", file: "compose/stay.go",
			at: "!restores && («r.holdsTarget(t, d, o, want)» ||", without: "false", story: 28,
		},
		"Spared": {
			reason: "What a revision was not to bring yet is not brought back.", file: "compose/stay.go",
			at: "|| «isUntouched(t, d)») {", without: "false", story: 364,
		},
	}
}

// goingOut are the rules about what goes out.
func goingOut() map[string]rule {
	return map[string]rule{
		"Steps": {
			reason: "Sites whose step has not come keep what they have.", file: "compose/step.go",
			at: "if «!rollout.Reached(o, t.Site)» {", without: "false", story: 3,
		},
		"Clusters": {
			reason: "Nothing is delivered to a Site before its cluster is ready.", file: "compose/await.go",
			at: "«clustered[t.Site] && !through && !evidence.AdmitsSite(sync, o, t.Site)» {", without: "false", story: 1,
		},
		"SuccessorFirst": {
			reason: "What is left is removed when its successor runs.", file: "deployment/resources.go",
			at: "if «phase.Ready(&status)» {", without: "true", story: 45,
		},
	}
}
