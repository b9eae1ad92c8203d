// The form's content as the API's lead, and what can be said against it before it is sent. The API decides
// in the end: these checks only save a round trip.

const TEXT_FIELDS = ["name", "email", "phone", "company", "jobTitle", "message"];
// Something, one @, and a dot in what follows, as the API asks.
const EMAIL = /^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/;
const PHONE = /^\+?\(?[0-9][0-9 ()./x-]{4,}$/;
// At most two decimals: "5,000" may mean five or five thousand, so it is asked again rather than guessed.
const NUMBER = /^[0-9]+([.,][0-9]{1,2})?$/;
// A JavaScript number keeps 15 digits as they are: these and two decimals. One more might be sent as another number.
const MOST_DIGITS = 13;

/** What to say of a field whose content has the wrong form. */
export const ADVICE = {
  email: "Enter an email address like name@example.com",
  phone: "Enter a phone number like +41 44 123 45 67",
  budget: "Enter the budget as a number, like 5000",
};

/** Read the form: `{name, email?, ...}`, blank fields left out, in a fixed order (equal content, equal text). */
export function readLead(form, source) {
  const lead = {};
  for (const field of TEXT_FIELDS) {
    const value = form.elements[field].value.trim();
    if (value !== "") lead[field] = value;
  }
  const budget = form.elements.budget.value.trim();
  if (NUMBER.test(budget)) lead.budget = Number(budget.replace(",", "."));
  lead.source = source;
  return lead;
}

/** List what is wrong: `[{field, detail}]`, in the order of the form. */
export function faultsOf(form, lead) {
  const faults = [];
  const fault = (field, detail) => faults.push({ field, detail });
  if (!lead.name) fault("name", "Enter your name");
  if (!lead.email && !lead.phone) fault("email", "Enter an email address or a phone number");
  if (lead.email && !EMAIL.test(lead.email)) fault("email", ADVICE.email);
  if (lead.phone && !PHONE.test(lead.phone)) fault("phone", ADVICE.phone);
  const budget = form.elements.budget.value.trim();
  if (budget !== "" && !NUMBER.test(budget)) fault("budget", ADVICE.budget);
  else if (budget.split(/[.,]/)[0].length > MOST_DIGITS) fault("budget", `Enter a budget of at most ${MOST_DIGITS} digits`);
  return faults;
}
