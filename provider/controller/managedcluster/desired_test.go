package managedcluster

import "testing"

func TestContainsAll(t *testing.T) {
	live := map[string]any{
		"a": int64(1), "b": []any{map[string]any{"x": "y", "defaulted": true}}, "others": "too",
		"named": []any{map[string]any{"name": "theirs", "value": "v"}, map[string]any{"name": "ours", "value": "v"}},
	}
	cases := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"Part": {reason: "Fields that others added do not matter.", want: map[string]any{"a": float64(1)}, is: true},
		"List": {
			reason: "Fields that others added to an element of a list do not matter.",
			want:   map[string]any{"b": []any{map[string]any{"x": "y"}}}, is: true,
		},
		"Other":      {reason: "A value that differs from the desired value is noticed.", want: map[string]any{"a": int64(2)}},
		"False":      {reason: "A desired false equals an absent field.", want: map[string]any{"c": false}, is: true},
		"True":       {reason: "A desired true differs from an absent field.", want: map[string]any{"c": true}},
		"Absent":     {reason: "An absent field differs from a desired value.", want: map[string]any{"c": "d"}},
		"ListLonger": {reason: "A list with fewer elements than desired is noticed.", want: map[string]any{"b": []any{map[string]any{"x": "y"}, "z"}}},
		"Named": {
			reason: "Elements of other names in the same list do not matter.",
			want:   map[string]any{"named": []any{map[string]any{"name": "ours", "value": "v"}}}, is: true,
		},
		"NamedOther": {
			reason: "A desired element is compared with the observed element of its name.",
			want:   map[string]any{"named": []any{map[string]any{"name": "ours", "value": "w"}}},
		},
		"NamedNone": {
			reason: "A desired element whose name is absent is noticed.",
			want:   map[string]any{"named": []any{map[string]any{"name": "new", "value": "v"}}},
		},
		"Empty":     {reason: "A list that has to be empty and is not is noticed.", want: map[string]any{"named": []any{}}},
		"OtherForm": {reason: "A list differs from a desired map.", want: map[string]any{"others": map[string]any{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := containsAll(live, tc.want); got != tc.is {
				t.Errorf("\n%s\ncontainsAll(): got %t", tc.reason, got)
			}
		})
	}
}
