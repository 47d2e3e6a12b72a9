package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func claimNamed(name string) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: name}
}

func TestPinned(t *testing.T) {
	ordered := &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0", Channel: "stable"}
	choice := deploymentv1alpha1.BlueprintChoice{Channel: "stable", UpdatePolicy: deploymentv1alpha1.UpdateManual}
	with := func(change func(*deploymentv1alpha1.BlueprintChoice)) deploymentv1alpha1.BlueprintChoice {
		c := choice
		change(&c)
		return c
	}
	cases := map[string]struct {
		reason string
		order  *rolloutv1alpha1.Order
		choice deploymentv1alpha1.BlueprintChoice
		name   string
		want   *rolloutv1alpha1.BlueprintReference
	}{
		"Stays":     {reason: "It stays with what was ordered.", order: &rolloutv1alpha1.Order{Blueprint: ordered}, choice: choice, name: "web", want: ordered},
		"Nothing":   {reason: "Nothing was ordered.", choice: choice, name: "web"},
		"Old":       {reason: "An order of an earlier version does not say.", order: &rolloutv1alpha1.Order{}, choice: choice, name: "web"},
		"Automatic": {reason: "Nobody has to approve.", order: &rolloutv1alpha1.Order{Blueprint: ordered}, choice: with(func(c *deploymentv1alpha1.BlueprintChoice) { c.UpdatePolicy = deploymentv1alpha1.UpdateAutomatic }), name: "web"},
		"SameVersion": {
			reason: "A version can be made anew too.", want: &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0"},
			order: &rolloutv1alpha1.Order{Blueprint: &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0"}}, choice: with(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.0" }), name: "web",
		},
		"OtherVersion": {
			reason: "Another version is asked for.",
			order:  &rolloutv1alpha1.Order{Blueprint: &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0"}}, choice: with(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.1" }), name: "web",
		},
		"Version":   {reason: "A version is asked for, and it was ordered by its channel.", order: &rolloutv1alpha1.Order{Blueprint: ordered}, choice: with(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.0" }), name: "web"},
		"Channel":   {reason: "Another channel is asked for.", order: &rolloutv1alpha1.Order{Blueprint: ordered}, choice: with(func(c *deploymentv1alpha1.BlueprintChoice) { c.Channel = "next" }), name: "web"},
		"ByVersion": {reason: "It was ordered by its version.", order: &rolloutv1alpha1.Order{Blueprint: &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0"}}, choice: choice, name: "web"},
		"Name":      {reason: "Another Blueprint is asked for.", order: &rolloutv1alpha1.Order{Blueprint: ordered}, choice: choice, name: "batch"},
		"Prefix":    {reason: "A name that the other begins with is another.", order: &rolloutv1alpha1.Order{Blueprint: &rolloutv1alpha1.BlueprintReference{Name: "web-2-1.0.0", Channel: "stable"}}, choice: choice, name: "web"},
		"NoVersion": {reason: "A name without a version is none.", order: &rolloutv1alpha1.Order{Blueprint: &rolloutv1alpha1.BlueprintReference{Name: "web", Channel: "stable"}}, choice: choice, name: "web"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Pinned(tc.order, tc.choice, tc.name)); diff != "" {
				t.Errorf("\n%s\nPinned(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSlots lets a day pass, for a thousand deployments that are looked at every minute.
func TestSlots(t *testing.T) {
	const deployments, most = 1000, 25
	midnight := time.Date(2031, 12, 17, 0, 0, 0, 0, time.UTC)
	took, busiest := map[string]int{}, 0
	at := make([]int, 24*60)
	for n := range deployments {
		c := claimNamed(fmt.Sprintf("shop-%d", n))
		slot := SlotOf(c, 2, 24*time.Hour)
		for minute := range at {
			now := midnight.Add(time.Duration(minute) * time.Minute)
			if slot.Wait(now) > 0 {
				continue
			}
			took[c.Name]++
			if took[c.Name] == 1 {
				at[minute]++
			}
		}
	}
	for _, n := range at {
		busiest = max(busiest, n)
	}
	if len(took) != deployments || busiest > most {
		t.Errorf("%d of %d deployments had their time, at most %d at once: want all, and at most %d", len(took), deployments, busiest, most)
	}
	for name, minutes := range took {
		if minutes < 10 {
			t.Fatalf("%s had %d minutes of the day: want 10", name, minutes)
		}
	}
}

func TestSlotWait(t *testing.T) {
	now := time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)
	cases := map[string]struct {
		reason string
		spread time.Duration
		always bool
	}{
		"None":  {reason: "No spread is at once.", always: true},
		"Short": {reason: "What is not longer than two slots cannot spread.", spread: 9 * time.Minute, always: true},
		"Hour":  {reason: "A short spread has slots that are not too short.", spread: time.Hour},
		"Day":   {reason: "A day has slots of ten minutes.", spread: 24 * time.Hour},
		"Week":  {reason: "A week has longer ones.", spread: 7 * 24 * time.Hour},
		"Odd":   {reason: "A spread need not be a multiple of anything.", spread: 1001 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for n := range 200 {
				slot := SlotOf(claimNamed(fmt.Sprintf("shop-%d", n)), 2, tc.spread)
				wait := slot.Wait(now)
				if slot.Always() != tc.always || tc.always && wait != 0 {
					t.Fatalf("\n%s\nSlotOf(...): always %t, wait %s", tc.reason, slot.Always(), wait)
				}
				if wait < 0 || wait > tc.spread || slot.Wait(now.Add(wait)) != 0 || !tc.always && slot.Wait(now.Add(wait+shortestRun-time.Second)) != 0 && wait > 0 {
					t.Fatalf("\n%s\nWait(...): %s does not lead into the slot", tc.reason, wait)
				}
			}
		})
	}
	one, other := SlotOf(claimNamed("a"), 2, 24*time.Hour), SlotOf(claimNamed("a"), 3, 24*time.Hour)
	if one == other {
		t.Error("SlotOf(...): a deployment has the same turn for each version")
	}
}

// TestHold holds back nothing but a new renderer.
func TestHold(t *testing.T) {
	current := order(2, "b")
	wish := Wish{Request: Request{Digest: "b2", Intent: current.Intent, RendererVersion: 2}, Before: "b", Hold: true}
	approved := &rolloutv1alpha1.RequestReference{Name: "a", UID: "1"}
	with := func(change func(*Wish)) Wish {
		w := wish
		change(&w)
		return w
	}
	cases := map[string]struct {
		reason   string
		wish     Wish
		revision int64
		held     bool
	}{
		"Held":      {reason: "Nothing but the renderer changed.", wish: wish, revision: 2, held: true},
		"Turn":      {reason: "It is the deployment's turn.", wish: with(func(w *Wish) { w.Hold = false }), revision: 3},
		"Unchanged": {reason: "No tree changed.", wish: with(func(w *Wish) { w.Unchanged = true }), revision: 2},
		"Blueprint": {reason: "The Blueprint changed too.", wish: with(func(w *Wish) { w.Before = "c" }), revision: 3},
		"Intent":    {reason: "The intent changed too.", wish: with(func(w *Wish) { w.Before, w.Request.Intent = "c", "other" }), revision: 3},
		"Also":      {reason: "What changed came to the same trees before.", wish: with(func(w *Wish) { w.Before, w.Also = "c", []string{"c"} }), revision: 2, held: true},
		"Unnamed":   {reason: "The order does not say its Blueprint, and the next one has to be approved.", wish: with(func(w *Wish) { w.Before, w.Manual = "c", true }), revision: 2, held: true},
		"Approved":  {reason: "Somebody approved it.", wish: with(func(w *Wish) { w.Approved = approved }), revision: 3},
		"Older":     {reason: "An approval does not let an older renderer through.", wish: with(func(w *Wish) { w.Approved, w.Request.RendererVersion = approved, 0 }), revision: 2},
		"Same":      {reason: "An approval of the same is the next revision all the same.", wish: Wish{Request: wishOf(current), Approved: approved}, revision: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, held := Next(&current, false, tc.wish)
			if got.Revision != tc.revision || held != tc.held {
				t.Errorf("\n%s\nNext(...): want revision %d, held %t; got %d, %t", tc.reason, tc.revision, tc.held, got.Revision, held)
			}
			if got.Revision > current.Revision && got.RequestRef != tc.wish.Approved {
				t.Errorf("\n%s\nNext(...): the order names %v", tc.reason, got.RequestRef)
			}
		})
	}
}

func wishOf(o rolloutv1alpha1.Order) Request {
	return Request{Digest: o.Request, Intent: o.Intent, RendererVersion: o.RendererVersion}
}

func request(name string, minute int, change ...func(*rolloutv1alpha1.RolloutRequest)) rolloutv1alpha1.RolloutRequest {
	c := claimNamed("shop")
	r := rolloutv1alpha1.RolloutRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name, UID: types.UID("uid-" + name),
			CreationTimestamp: metav1.NewTime(time.Date(2031, 12, 17, 13, minute, 0, 0, time.UTC)),
		},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: c.APIGroup, Kind: c.Kind, Name: c.Name},
			Action:        rolloutv1alpha1.ActionApproveUpdate, Revision: 2,
		},
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func TestOf(t *testing.T) {
	many := []rolloutv1alpha1.RolloutRequest{}
	for n := range 30 {
		many = append(many, request(fmt.Sprintf("r%02d", n), 59-n))
	}
	oldest := []string{}
	for n := range rolloutv1alpha1.MaxOpen {
		oldest = append(oldest, fmt.Sprintf("r%02d", 29-n))
	}
	cases := map[string]struct {
		reason string
		all    []rolloutv1alpha1.RolloutRequest
		want   []string
	}{
		"None": {reason: "None is none."},
		"Age":  {reason: "Age comes first, then the name.", all: []rolloutv1alpha1.RolloutRequest{request("c", 1), request("a", 2), request("b", 1)}, want: []string{"b", "c", "a"}},
		"Many": {reason: "So many are looked at, oldest first.", all: many, want: oldest},
		"Abort": {
			reason: "An Abort is among them, however young it is.", want: append(slices.Clone(oldest[:rolloutv1alpha1.MaxOpen-1]), "abort"),
			all: append(slices.Clone(many), request("abort", 60, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = rolloutv1alpha1.ActionAbort })),
		},
		"Group": {reason: "The other shape of the same name is another.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.APIGroup = "intentplane.dev" })}},
		"Kind":  {reason: "So is another kind.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Kind = "Application" })}},
		"Name":  {reason: "So is another name.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = "bank" })}},
		"Space": {reason: "So is another namespace.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" })}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				var got []string
				for _, r := range Of(claimNamed("shop"), tc.all) {
					got = append(got, r.GetName())
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.all)
			}
		})
	}
}

// TestResults changes one thing at a time about a request that would be taken.
func TestResults(t *testing.T) {
	type args struct {
		request  rolloutv1alpha1.RolloutRequest
		standing Standing
	}
	cases := map[string]struct {
		reason string
		change func(*args)
		want   rolloutv1alpha1.Result
		// approves says whether the request is taken now.
		approves bool
	}{
		"Taken":        {reason: "It is taken, and waits until an order says so.", change: func(*args) {}, want: rolloutv1alpha1.ResultWaiting, approves: true},
		"Nothing":      {reason: "Nothing was ordered.", change: func(a *args) { a.standing.Order = nil }, want: rolloutv1alpha1.ResultWaiting},
		"Ordered":      {reason: "The order names it.", change: func(a *args) { name(&a.standing, "uid-a") }, want: rolloutv1alpha1.ResultTaken},
		"Ended":        {reason: "And came to its end.", change: func(a *args) { name(&a.standing, "uid-a"); a.standing.Ended = true }, want: rolloutv1alpha1.ResultDone},
		"ByAnother":    {reason: "The order names another.", change: func(a *args) { name(&a.standing, "uid-b") }, want: rolloutv1alpha1.ResultStale},
		"Stale":        {reason: "There is a newer revision.", change: func(a *args) { a.request.Spec.Revision = 1 }, want: rolloutv1alpha1.ResultStale},
		"StaleAnyway":  {reason: "Which needs no memory to be seen.", change: func(a *args) { a.request.Spec.Revision = 1; a.standing.Remembered = false }, want: rolloutv1alpha1.ResultStale},
		"Digest":       {reason: "It means another content.", change: func(a *args) { a.request.Spec.Request = "x" }, want: rolloutv1alpha1.ResultStale},
		"SameDigest":   {reason: "It means this content.", change: func(a *args) { a.request.Spec.Request = "b" }, want: rolloutv1alpha1.ResultWaiting, approves: true},
		"Future":       {reason: "No revision has that number.", change: func(a *args) { a.request.Spec.Revision = 3 }, want: rolloutv1alpha1.ResultUnknownRevision},
		"FutureOrLost": {reason: "It may have, and be forgotten.", change: func(a *args) { a.request.Spec.Revision = 3; a.standing.Remembered = false }, want: rolloutv1alpha1.ResultWaiting},
		"Forgotten":    {reason: "The number may be an old one.", change: func(a *args) { a.standing.Remembered = false }, want: rolloutv1alpha1.ResultWaiting},
		"Action":       {reason: "Nobody knows such an action.", change: func(a *args) { a.request.Spec.Action = "Dance" }, want: rolloutv1alpha1.ResultNotSupported},
		"Held":         {reason: "Something holds the deployment back.", change: func(a *args) { a.standing.Free = false }, want: rolloutv1alpha1.ResultWaiting},
		"NoUpdate":     {reason: "Nothing waits.", change: func(a *args) { a.standing.Waits = false }, want: rolloutv1alpha1.ResultNoUpdate},
		"Other":        {reason: "Another update waits.", change: func(a *args) { a.standing.Other = "uid-a" }, want: rolloutv1alpha1.ResultStale},
		"Failed":       {reason: "What waits cannot be delivered.", change: func(a *args) { a.standing.Failed = "uid-a" }, want: rolloutv1alpha1.ResultUpdateFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := order(2, "b")
			a := args{request: request("a", 1), standing: Standing{Order: &o, Remembered: true, Free: true, Waits: true}}
			tc.change(&a)
			if diff := cmp.Diff(tc.want, ResultOf(&a.request, a.standing)); diff != "" {
				t.Errorf("\n%s\nResultOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			approval := Choice([]rolloutv1alpha1.RolloutRequest{a.request}, a.standing)
			if (approval != nil) != tc.approves {
				t.Errorf("\n%s\nChoice(...): want one: %t, got %v", tc.reason, tc.approves, approval)
			}
		})
	}
}

// name lets an order be the next one, which a request made.
func name(s *Standing, uid string) {
	o := order(3, "c")
	o.RequestRef = &rolloutv1alpha1.RequestReference{Name: strings.TrimPrefix(uid, "uid-"), UID: uid}
	s.Order = &o
}

func TestRemembered(t *testing.T) {
	o := order(1, "a")
	cases := map[string]struct {
		reason string
		ds     []*deliveryv1alpha1.GitDelivery
		want   bool
	}{
		"None": {reason: "There is nothing."},
		"New":  {reason: "Nobody looked into a repository.", ds: []*deliveryv1alpha1.GitDelivery{delivery(o, nil)}},
		"One":  {reason: "One told.", ds: []*deliveryv1alpha1.GitDelivery{delivery(o, nil), delivery(o, &o)}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Remembered(tc.ds)); diff != "" {
				t.Errorf("\n%s\nRemembered(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
