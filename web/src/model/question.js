// The form of a question, made of its schema, and the value that a filled form means.

// {type: 'boolean' | 'choice' | 'text' | 'number' | 'object' | 'json', …}
export function formOf(schema, depth = 0) {
  if (!schema || typeof schema !== 'object' || Array.isArray(schema))
    return { type: schema === undefined || schema === null ? 'text' : 'json' };
  const help = typeof schema.description === 'string' ? schema.description : '';
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return { type: 'choice', options: schema.enum, help };
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type;
  switch (type) {
    case 'boolean':
      return { type: 'boolean', help };
    case 'string':
      return { type: 'text', help, long: !(schema.maxLength <= 80) };
    case 'integer':
    case 'number':
      return { type: 'number', integer: type === 'integer', help };
    case 'object': {
      const names = Object.keys(schema.properties ?? {});
      if (depth > 0 || names.length === 0) return { type: 'json', help };
      const required = new Set(Array.isArray(schema.required) ? schema.required : []);
      return {
        type: 'object',
        help,
        fields: names.map((name) => ({
          name,
          title: typeof schema.properties[name]?.title === 'string' ? schema.properties[name].title : name,
          required: required.has(name),
          form: formOf(schema.properties[name], depth + 1),
        })),
      };
    }
    default:
      return Object.keys(schema).length === 0 ? { type: 'text', help } : { type: 'json', help };
  }
}

// What a form holds before anybody has typed.
export function blank(form) {
  switch (form.type) {
    case 'boolean':
      return null;
    case 'choice':
      return null;
    case 'object':
      return Object.fromEntries(form.fields.map((field) => [field.name, blank(field.form)]));
    default:
      return '';
  }
}

// {value} or {error}.
export function valueOf(form, filled) {
  switch (form.type) {
    case 'boolean':
      return typeof filled === 'boolean' ? { value: filled } : { error: 'Choose yes or no.' };
    case 'choice':
      return Number.isInteger(filled) && filled in form.options
        ? { value: form.options[filled] }
        : { error: 'Choose one.' };
    case 'text':
      return { value: filled };
    case 'number': {
      const number = Number(filled);
      if (String(filled).trim() === '' || !Number.isFinite(number)) return { error: 'A number is needed.' };
      if (form.integer && !Number.isInteger(number)) return { error: 'A whole number is needed.' };
      return { value: number };
    }
    case 'object': {
      const value = {};
      for (const field of form.fields) {
        const given = filled[field.name];
        if (!field.required && (given === '' || given === null || given === undefined)) continue;
        const inner = valueOf(field.form, given);
        if ('error' in inner) return { error: `${field.title}: ${inner.error}` };
        value[field.name] = inner.value;
      }
      return { value };
    }
    default:
      try {
        return { value: JSON.parse(filled) };
      } catch {
        return { error: 'This is not JSON.' };
      }
  }
}
