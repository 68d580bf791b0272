// What somebody claimed of an entry, and how it was marked for the numbers that the page came with.
const claimTold = (key) => {
  const words = !live && data.claims?.[key];
  return words ? [make("p", words, { class: "verdict" })] : [];
};
