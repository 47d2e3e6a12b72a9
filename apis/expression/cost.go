package expression

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

const (
	// compareWholeCost is the cost of comparing a list or a map: CEL counts its own elements, and not the values they are made from.
	compareWholeCost = 5000

	// charactersPerCost is the number of characters of a text that cost 1.
	charactersPerCost = 10
)

// costs are the costs of steps with operands of any size. CEL counts 1 for most of them, as it does not know their types.
type costs struct{}

// CallCost returns the cost of an executed step, or nil for the cost that CEL counts.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	switch function {
	case operators.Equals, operators.NotEquals:
		return costOfStep(compareCost(args))
	case operators.In:
		return costOfStep(compareCost(args[:1]) + elementCount(args[len(args)-1]))
	case operators.Add, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, overloads.Size, overloads.Contains,
		overloads.StartsWith, overloads.EndsWith, overloads.TypeConvertString, overloads.TypeConvertInt, overloads.TypeConvertDouble:
		return costOfStep(textCost(args))
	}
	return nil
}

func costOfStep(cost uint64) *uint64 {
	cost++
	return &cost
}

// compareCost returns the cost of comparing operands.
func compareCost(args []ref.Val) uint64 {
	cost := textCost(args)
	for _, a := range args {
		switch a.(type) {
		case traits.Lister, traits.Mapper:
			return cost + compareWholeCost
		}
	}
	return cost
}

// textCost returns the cost of reading the operands that are texts.
func textCost(args []ref.Val) uint64 {
	cost := uint64(0)
	for _, a := range args {
		if s, ok := a.(types.String); ok {
			cost += uint64(len(s)) / charactersPerCost
		}
	}
	return cost
}

// elementCount returns the number of elements of a list or a map.
func elementCount(v ref.Val) uint64 {
	s, ok := v.(traits.Sizer)
	if !ok {
		return 0
	}
	n, ok := s.Size().(types.Int)
	if !ok {
		return 0
	}
	return uint64(max(n, 0))
}
