package config

// Value is a setting that may be left out, with the place where it was
// written. The zero Value is one that was left out.
type Value[T any] struct {
	V   T
	At  Pos
	Set bool
}

// holder is what the decoder sees of a Value.
type holder interface {
	// hold marks the value as written at a place and gives what to decode into.
	hold(at Pos) any
}

func (v *Value[T]) hold(at Pos) any {
	v.At, v.Set = at, true
	return &v.V
}

// text gives a value of a text type as a string.
func text[T ~string](v Value[T]) Value[string] {
	return Value[string]{V: string(v.V), At: v.At, Set: v.Set}
}

// first gives the first of the values that was written: the order of
// inheritance.
func first[T any](values ...Value[T]) Value[T] {
	for _, v := range values {
		if v.Set {
			return v
		}
	}
	return Value[T]{}
}

// firstList gives the first of the lists that was written.
func firstList[T any](lists ...List[T]) List[T] {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

// List is a list that may be written as its only element.
type List[T any] []T

func (*List[T]) oneOrMany() {}

// oneOrMany is what the decoder sees of a List.
type oneOrMany interface{ oneOrMany() }
