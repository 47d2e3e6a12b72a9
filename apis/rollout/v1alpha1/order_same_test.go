package v1alpha1

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fullOrder says something in every field, so that none is forgotten.
func fullOrder() Order {
	return Order{
		Epoch: 9, Revision: 7, Request: "r", Intent: "i", DigestScheme: 1, RendererVersion: 2, Blueprint: &BlueprintReference{Name: "b", Channel: "c", Digest: "d"},
		Plan: []Step{{Sites: []string{"a"}, Weight: new(int32(5)), Gate: new(true), Pause: "Manual"}}, Steps: 1, Step: 2, Promoted: 3, Attempt: 4,
		Verdict: &Verdict{Result: VerdictRejected, Reason: "x", Message: "y"}, Target: new(int64(6)), Irreversible: new(true), Marked: "m", Withdraws: new(int64(5)),
		Restored: new(true), RequestRef: &RequestReference{Name: "n", UID: "u", By: "p", Reason: "q", At: &metav1.Time{Time: time.Unix(8, 0)}},
	}
}

// leaves calls with every value that an order consists of.
func leaves(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	if v.Type() == reflect.TypeFor[metav1.Time]() {
		do(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		do(path, v)
		leaves(v.Elem(), path, do)
	case reflect.Slice:
		do(path, v)
		leaves(v.Index(0), path+"[0]", do)
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, do)
		}
	default:
		do(path, v)
	}
}

// TestOrderSameValues takes each value of an order away in turn: it is another one then, and none but the Blueprint, what that marks, and the
// reason of a request may be absent.
func TestOrderSameValues(t *testing.T) {
	n := 0
	o := fullOrder()
	leaves(reflect.ValueOf(&o).Elem(), "", func(path string, v reflect.Value) {
		n++
		if v.IsZero() {
			t.Errorf("%s says nothing", path)
		}
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.SetZero()
		defer v.Set(was)
		want := path == ".Blueprint" || path == ".Marked" || path == ".RequestRef.Reason" || equality.Semantic.DeepEqual(o, fullOrder())
		if got := o.Same(fullOrder()); got != want || fullOrder().Same(o) != want {
			t.Errorf("without %s: want same %t, got %t", path, want, got)
		}
	})
	if other := fullOrder(); !o.Same(other) || n < 30 {
		t.Errorf("a copy is the same: %t; %d values", o.Same(other), n)
	}
	if a, b := (Order{Marked: "a"}), (Order{Marked: "b"}); a.Same(b) {
		t.Error("Two that say what is marked say different things.")
	}
	if a, b := (Order{Plan: []Step{}}), (Order{}); !a.Same(b) {
		t.Error("Empty is absent.")
	}
}
