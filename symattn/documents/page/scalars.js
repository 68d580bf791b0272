// Numbers of a formula that are no whole numbers.
const root = (x) => Math.sqrt(x);

const raised = (base, above, below) => base ** (above / below);

const quotientOf = (a, b) => a / b;

const productOf = (...xs) => xs.reduce((a, b) => a * b);

const sumOf = (...xs) => xs.reduce((a, b) => a + b);

const ofNumber = (name, x) => (name === "ln" ? Math.log : Math[name])(x);

const circle = () => Math.PI;
