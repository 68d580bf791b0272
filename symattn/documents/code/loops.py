"""The states of a recurrence in a program: a loop over tokens, forward or back."""

from __future__ import annotations

from collections.abc import Callable

from symattn.arithmetic.recorded import Recorded
from symattn.documents.code.body import Body, Names
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.graph import Graph
from symattn.documents.code.sizes import Sizes


class Loops:
    """Spells the states of all tokens, after the loop that makes them."""

    def __init__(
        self,
        graph: Graph,
        names: Names,
        sizes: Sizes,
        body: Body,
        spelled: Callable[[Recorded], Piece],
    ) -> None:
        """`spelled` is the code of any value."""
        self.graph, self.names, self.sizes, self.body = graph, names, sizes, body
        self.spelled = spelled

    def code(self, x: Recorded, subject: str) -> Piece:
        """The states; what does not change from token to token stands ahead of the loop."""
        (first, new), (state, back) = self.graph.operands(x), x.details
        names, body, language = self.names, self.body, self.graph.language
        token, around = state.details[1], self.graph.tokens(x)
        name, states = names.free(f"{subject}_t"), names.free("states")
        number = names.of_grid("t")
        self.sizes.bind(token, number)
        names.of[state] = name
        with body.loop(token) as repeated:
            body.tell(name, self._value(new), tokens=[token], template=language.changed)
            statements, indent = body.within([token])
            statements.append([indent + language.appended.format(states, name)])
        body.tell(name, self._value(first), tokens=around, template=language.changing)
        body.tell(states, language.collected.format(name if back else ""), tokens=around)
        outside, indent = body.within(around)
        header = language.loops[back].format(number, self.sizes.whole(x.shape[-3] - int(back)))
        closing = language.footer.strip()
        outside += [[indent + header], *repeated, *([[indent + closing]] if closing else [])]
        alike = not back or first.batched  # the last token's alone may lack the axes of a batch
        listed = states if alike else language.operations["together"].format(states)
        return Piece(language.stacked[back].format(listed))

    def _value(self, x: Recorded) -> Piece:
        return Piece(self.names.of[x]) if x in self.names.of else self.spelled(x)
